import { createApiServer, openMemoryStorage, requestBodyBytesMax } from "@meridian/apiserver";
import { labBodyBytesMax, startLabServer, type PageFiles } from "@meridian/console";
import { formatEndpoint, type Endpoint, type Runtime } from "@meridian/runtime";
import { ClosingStack } from "../cluster/closing-stack.ts";
import { labIdentities, labRights } from "./lab-rights.ts";

/** Where the lab is, and the page that it serves. */
export interface LabPlace {
  /** Where the page is served; port 0 takes a free one. */
  readonly listen: Endpoint;
  readonly page: PageFiles;
  /** Names that the page is asked for by, besides its address and `localhost`. */
  readonly hostNames?: readonly string[];
}

/** The informer lab with its own API server. */
export interface RunningLab extends AsyncDisposable {
  /** `http://127.0.0.1:8090/`. */
  readonly url: string;
}

/**
 * Starts the informer lab: an API server in memory, with nothing that writes into it by itself, and the page. The two meet over HTTP on
 * the loopback interface.
 *
 * @throws NetworkError where the page's address cannot be had
 */
export async function startLab(runtime: Runtime, place: LabPlace): Promise<RunningLab> {
  const closing = new ClosingStack();
  try {
    const storage = closing.use(await openMemoryStorage(runtime, { persistent: false }));
    const identities = labIdentities(runtime.random);
    const apiServer = closing.use(
      createApiServer(runtime, {
        storage,
        tokens: identities,
        authorizer: labRights,
        disabledControllers: ["garbage-collection", "namespaces", "event-expiry"],
      }),
    );
    const api = closing.use(
      await runtime.network.serveHttp({
        address: "127.0.0.1",
        port: 0,
        handler: apiServer.handler,
        bodyBytesMax: requestBodyBytesMax,
      }),
    );
    await apiServer.ready;

    const tokens = new Map(identities.map(({ username, token }) => [username, token]));
    const lab = closing.use(
      await startLabServer(runtime, {
        apiServer: {
          origin: `http://${formatEndpoint(api.local)}`,
          tokenOf: (user) => tokens.get(user) ?? "",
        },
        page: place.page,
        hostNames: place.hostNames ?? [],
      }),
    );
    const http = closing.use(
      await runtime.network.serveHttp({
        ...place.listen,
        handler: lab.handler,
        bodyBytesMax: labBodyBytesMax,
        connectionsMax: 256,
      }),
    );
    return {
      url: `http://${formatEndpoint(http.local)}/`,
      [Symbol.asyncDispose]: () => closing.close(),
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
