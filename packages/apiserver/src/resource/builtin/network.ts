import type { ApiObject, ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import {
  at,
  labelsText,
  objectsAt,
  orNone,
  pathColumn,
  sizeAt,
  textAt,
  textOf,
  textColumn,
  wide,
} from "./cells.ts";
import {
  choice,
  conditions,
  flag,
  integer,
  intOrText,
  keyedList,
  kind,
  list,
  object,
  objectReference,
  open,
  text,
  texts,
  whole,
} from "./schema-nodes.ts";

const protocol = choice("Protocol of the port.", ["TCP", "UDP", "SCTP"], "TCP");

const loadBalancerStatus = object("What the load balancer says.", {
  ingress: list(
    "Where traffic can enter.",
    object("One place where traffic can enter.", {
      ip: text("Address."),
      hostname: text("Name, where the load balancer is known by one."),
      ipMode: text("How the load balancer passes traffic on: VIP or Proxy."),
      ports: list(
        "What the load balancer says of each port.",
        object("One port.", {
          port: integer("Number."),
          protocol: text("Protocol."),
          error: text("What is wrong with it."),
        }),
      ),
    }),
  ),
});

/** Services (v1). */
export const services: ResourceDefinition = builtIn({
  kind: "Service",
  shortNames: ["svc"],
  categories: ["all"],
  status: true,
  schema: kind("Service is a name for a set of endpoints that offer the same.", {
    spec: object("How the service shall be.", {
      type: choice(
        "How the service can be reached.",
        ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"],
        "ClusterIP",
      ),
      selector: { ...texts("Labels of the pods behind the service."), "x-kubernetes-map-type": "atomic" },
      ports: {
        ...keyedList(
          "Ports that the service offers.",
          ["port", "protocol"],
          object(
            "One port.",
            {
              name: text("Name; required where there are several ports."),
              protocol,
              appProtocol: text("What is spoken on the port."),
              port: integer("Number that clients use.", { minimum: 1, maximum: 65_535 }),
              targetPort: intOrText("Number or name of the pods' port."),
              nodePort: integer("Number on each node, for services that are open to the outside."),
            },
            ["port"],
          ),
        ),
      },
      clusterIP: text("Address within the cluster; `None` for a service without one."),
      clusterIPs: list("Addresses within the cluster, one for each family.", text("Address.")),
      externalIPs: list("Addresses from outside that nodes accept traffic for.", text("Address.")),
      externalName: text("The name that a service of type ExternalName stands for."),
      externalTrafficPolicy: text("How traffic from outside is spread: Cluster or Local."),
      internalTrafficPolicy: text("How traffic from inside is spread: Cluster or Local."),
      healthCheckNodePort: integer("Port of the health check for load balancers."),
      ipFamilies: list("Families of the addresses.", text("IPv4 or IPv6.")),
      ipFamilyPolicy: text("Whether the service has one family or both."),
      loadBalancerIP: text("Address that the load balancer is asked for."),
      loadBalancerClass: text("Which load balancer shall care for the service."),
      loadBalancerSourceRanges: list("Who may come in through the load balancer.", text("Range.")),
      allocateLoadBalancerNodePorts: flag("Whether a load balancer gets ports on the nodes."),
      publishNotReadyAddresses: flag("Whether endpoints count before they are ready."),
      sessionAffinity: choice("Whether a client stays with an endpoint.", ["None", "ClientIP"], "None"),
      sessionAffinityConfig: open("How a client stays with an endpoint."),
      trafficDistribution: text("Which endpoints are preferred."),
    }),
    status: object("How the service is.", { loadBalancer: loadBalancerStatus, conditions: conditions() }),
  }),
  columns: [
    pathColumn("Type", ".spec.type", "How the service can be reached."),
    textColumn("Cluster-IP", "Address within the cluster.", (service) =>
      orNone(textAt(service, "spec", "clusterIP")),
    ),
    textColumn("External-IP", "Addresses for the outside.", externalAddresses),
    textColumn("Port(s)", "Ports that the service offers.", (service) =>
      orNone(
        objectsAt(service, "spec", "ports")
          .map(({ nodePort, port, protocol: of = "TCP" }) =>
            typeof nodePort === "number" && nodePort > 0
              ? `${textOf(port)}:${nodePort}/${textOf(of)}`
              : `${textOf(port)}/${textOf(of)}`,
          )
          .join(","),
      ),
    ),
  ],
  wideColumns: [
    wide(
      textColumn("Selector", "Labels of the pods behind it.", (service) =>
        labelsText(at(service, "spec", "selector")),
      ),
    ),
  ],
  selectable: ["spec.clusterIP", "spec.type"],
  rules: { nameRule: "label-1035", returnsDeleted: true, allowsCreateOnUpdate: true },
});

function externalAddresses(service: ApiObject): string {
  const balancer = addressesOf(service);
  const fixed = at(service, "spec", "externalIPs");
  const externalIps = Array.isArray(fixed) ? fixed.map(textOf) : [];
  switch (textAt(service, "spec", "type")) {
    case "ExternalName":
      return orNone(textAt(service, "spec", "externalName"));
    case "LoadBalancer": {
      const all = [...balancer, ...externalIps];
      return all.length > 0 ? all.join(",") : "<pending>";
    }
    default:
      return orNone(externalIps.join(","));
  }
}

function addressesOf(of: ApiObject): readonly string[] {
  return objectsAt(of, "status", "loadBalancer", "ingress").map(({ hostname, ip }) => textOf(ip ?? hostname));
}

/** Endpoint slices (discovery.k8s.io/v1). */
export const endpointSlices: ResourceDefinition = builtIn({
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  schema: kind(
    "EndpointSlice lists some of the endpoints of a service; its label kubernetes.io/service-name names the service.",
    {
      addressType: choice("What the addresses are.", ["IPv4", "IPv6", "FQDN"]),
      endpoints: {
        ...list(
          "The endpoints.",
          object(
            "One endpoint.",
            {
              addresses: list("Where it is reached.", text("Address.")),
              conditions: object("Whether it can be used.", {
                ready: flag("Whether it takes traffic; true where unknown.", { nullable: true }),
                serving: flag("Whether it answers, also while it ends.", { nullable: true }),
                terminating: flag("Whether it is ending.", { nullable: true }),
              }),
              hostname: text("Its own name."),
              nodeName: text("The node that it runs on."),
              zone: text("The zone that it runs in."),
              targetRef: objectReference("The object that stands behind it."),
              hints: open("Who should use it."),
              deprecatedTopology: texts("Where it runs, in an older form."),
            },
            ["addresses"],
          ),
        ),
        nullable: true,
      },
      ports: {
        ...list(
          "The ports of each endpoint.",
          object("One port.", {
            name: text("Name.", { nullable: true }),
            protocol: { ...protocol, nullable: true },
            port: integer("Number.", { nullable: true }),
            appProtocol: text("What is spoken on the port.", { nullable: true }),
          }),
        ),
        nullable: true,
      },
    },
    ["addressType"],
  ),
  columns: [
    pathColumn("AddressType", ".addressType", "What the addresses are."),
    textColumn("Ports", "The ports of each endpoint.", (slice) =>
      limited(
        objectsAt(slice, "ports").map(({ port }) =>
          port === undefined || port === null ? "*" : textOf(port),
        ),
        "<unset>",
      ),
    ),
    textColumn("Endpoints", "Addresses of the endpoints.", (slice) =>
      limited(
        objectsAt(slice, "endpoints").flatMap(({ addresses }) =>
          Array.isArray(addresses) ? addresses.map(textOf) : [],
        ),
        "<unset>",
      ),
    ),
  ],
  rules: { tracksGeneration: true },
});

/** The first three, and how many more there are. */
function limited(values: readonly string[], none: string): string {
  if (values.length === 0) return none;
  const shown = values.slice(0, 3).join(",");
  return values.length > 3 ? `${shown} + ${values.length - 3} more...` : shown;
}

const ingressBackend = object("Where requests go.", {
  service: object(
    "The service.",
    {
      name: text("Name."),
      port: whole(object("Which of its ports.", { name: text("By name."), number: integer("By number.") })),
    },
    ["name"],
  ),
  resource: whole(
    object("Another object that answers.", {
      apiGroup: text("Its group."),
      kind: text("Its kind."),
      name: text("Its name."),
    }),
  ),
});

/** Ingresses (networking.k8s.io/v1). */
export const ingresses: ResourceDefinition = builtIn({
  group: "networking.k8s.io",
  kind: "Ingress",
  plural: "ingresses",
  shortNames: ["ing"],
  status: true,
  schema: kind("Ingress tells which requests from outside go to which service.", {
    spec: object("How the ingress shall be.", {
      ingressClassName: text("Which controller shall care for it."),
      defaultBackend: ingressBackend,
      tls: list(
        "Certificates.",
        object("One certificate.", {
          hosts: list("The hosts that it is for.", text("Host.")),
          secretName: text("The secret that holds it."),
        }),
      ),
      rules: list(
        "Which requests go where.",
        object("The rules of one host.", {
          host: text("The host; any where absent."),
          http: object(
            "The rules of its paths.",
            {
              paths: list(
                "Rules, the longest path first.",
                object(
                  "One rule.",
                  {
                    path: text("The path."),
                    pathType: choice("How the path is compared.", [
                      "Exact",
                      "Prefix",
                      "ImplementationSpecific",
                    ]),
                    backend: ingressBackend,
                  },
                  ["backend", "pathType"],
                ),
              ),
            },
            ["paths"],
          ),
        }),
      ),
    }),
    status: object("How the ingress is.", { loadBalancer: loadBalancerStatus }),
  }),
  columns: [
    textColumn("Class", "Which controller cares for it.", (ingress) =>
      orNone(textAt(ingress, "spec", "ingressClassName")),
    ),
    textColumn("Hosts", "The hosts that it is for.", (ingress) => {
      const hosts = objectsAt(ingress, "spec", "rules").map(({ host }) =>
        typeof host === "string" && host !== "" ? host : "*",
      );
      return hosts.length === 0 ? "*" : limited(hosts, "*");
    }),
    textColumn("Address", "Where requests can enter.", (ingress) => addressesOf(ingress).join(",")),
    textColumn("Ports", "80, and 443 with certificates.", (ingress) =>
      sizeAt(ingress, "spec", "tls") > 0 ? "80, 443" : "80",
    ),
  ],
  rules: { tracksGeneration: true },
});

/** Ingress classes (networking.k8s.io/v1). */
export const ingressClasses: ResourceDefinition = builtIn({
  group: "networking.k8s.io",
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
  schema: kind("IngressClass names a controller that cares for ingresses.", {
    spec: object("What the class is.", {
      controller: text("The controller."),
      parameters: open("An object with further settings."),
    }),
  }),
  columns: [
    pathColumn("Controller", ".spec.controller", "The controller."),
    textColumn("Parameters", "An object with further settings.", (of) => {
      const name = textAt(of, "spec", "parameters", "name");
      return name === "" ? "<none>" : `${textAt(of, "spec", "parameters", "kind")}/${name}`;
    }),
  ],
  rules: { tracksGeneration: true },
});

/** Endpoints (v1): the older form of endpoint slices. */
export const endpoints: ResourceDefinition = builtIn({
  kind: "Endpoints",
  plural: "endpoints",
  shortNames: ["ep"],
  schema: kind(
    "Endpoints lists the addresses behind a service, in the older form of one object for all of them.",
    {
      subsets: list(
        "Addresses with the same ports.",
        object("Addresses and ports, each with each.", {
          addresses: list("Addresses that are ready.", open("One address.")),
          notReadyAddresses: list("Addresses that are not.", open("One address.")),
          ports: list(
            "Ports.",
            object("One port.", {
              name: text("Name."),
              port: integer("Number."),
              protocol,
              appProtocol: text("What is spoken on the port."),
            }),
          ),
        }),
      ),
    },
  ),
  columns: [
    textColumn("Endpoints", "Addresses and ports.", (of) =>
      limited(
        objectsAt(of, "subsets").flatMap(({ addresses, ports }) => {
          const all = Array.isArray(addresses) ? addresses : [];
          const numbers = Array.isArray(ports) ? ports : [];
          return all.flatMap((address) => {
            const ip = textOf((address as { readonly ip?: unknown }).ip);
            return numbers.length === 0
              ? [ip]
              : numbers.map((port) => `${ip}:${textOf((port as { readonly port?: unknown }).port)}`);
          });
        }),
        "<none>",
      ),
    ),
  ],
  rules: { allowsCreateOnUpdate: true },
});
