import { describeConformance } from "../test/conformance/controller/conformance-group.ts";
import { controllerSuite } from "../test/conformance/controller/suite.ts";
import { realControlPlaneAbsence } from "./harness/real-control-plane.ts";
import { RealServer } from "./harness/real-server.ts";

// The whole suite, without exceptions: what this library does with a real kube-apiserver.
describeConformance(
  {
    name: "kube-apiserver",
    open: () => RealServer.start(),
    skips: {},
    absence: await realControlPlaneAbsence(),
  },
  controllerSuite,
);
