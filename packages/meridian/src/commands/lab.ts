import { formatEndpoint, type Endpoint } from "@meridian/runtime";
import { lastText, type Command } from "../cli/command.ts";
import { parseEndpoint } from "../cli/endpoint-option.ts";
import { OptionReader } from "../cli/option-values.ts";
import { whenAborted } from "../cli/when-aborted.ts";
import { labEndpoint } from "../lab/lab-listen.ts";
import { MeridianError } from "../meridian-error.ts";
import { pinoLogger } from "../pino-logger.ts";

const listenDefault = formatEndpoint(labEndpoint);

/** `meridian lab`: the informer lab alone. */
export const labCommand: Command = {
  words: ["lab"],
  positionals: [],
  summary: "serve the informer lab: a page on which one sees an API server and the copies of its state",
  details: [
    "It has an API server of its own, in memory, into which nothing writes but you, until you start the small controller.",
    "Whoever can reach the address can use the page. Runs until SIGTERM or Ctrl-C.",
  ],
  options: [
    {
      name: "listen",
      value: "ADDR:PORT",
      help: `where to serve the page; port 0 takes a free one (default ${listenDefault})`,
    },
    {
      name: "host",
      value: "NAME",
      multiple: true,
      help: "a name that the page is asked for by, besides its address and localhost",
    },
  ],
  async run(invocation, terminal) {
    const reader = new OptionReader();
    const listen = parseEndpoint(lastText(invocation, "listen") ?? listenDefault, reader);
    const hostNames = (invocation.text.get("host") ?? []).map((name) => name.toLowerCase());
    for (const name of hostNames) {
      if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
        reader.problem(`--host ${name}: must be a name without a port, for example lab.example.com`);
    }
    reader.finish();
    if (listen === undefined) return 2; // never: `finish` has thrown
    // Loaded when it is needed: the other commands start without the servers.
    const [{ nodeRuntime }, { readPage }, { startLab }] = await Promise.all([
      import("@meridian/runtime/node"),
      import("../lab/read-page.ts"),
      import("../lab/start-lab.ts"),
    ]);
    const log = pinoLogger({ format: terminal.interactive ? "pretty" : "json", level: "warn" });
    await using lab = await startLab(nodeRuntime({ dataFolder: ".", log }), {
      listen,
      page: await readPage(),
      hostNames,
    }).catch((error: unknown) => {
      throw withWayOut(error, listen);
    });
    terminal.print(`The informer lab is at ${lab.url}`);
    await whenAborted(terminal.stopping);
    return 0;
  },
};

/** Where the port is taken, by a playground most likely, says how to get another one. Other failures are passed on. */
function withWayOut(error: unknown, listen: Endpoint): unknown {
  if ((error as { readonly code?: unknown }).code !== "AddressInUse") return error;
  const free = formatEndpoint({ ...listen, port: 0 });
  return new MeridianError(
    "PortTaken",
    `cannot serve the informer lab on ${formatEndpoint(listen)}: the port is taken, perhaps by the playground, which serves a lab ` +
      `as well; give --listen ${free} for a free port, or --listen ADDR:PORT for another`,
    { cause: error },
  );
}
