import { describeConformance } from "./conformance-group.ts";
import { OurServer } from "./our-server.ts";
import { skipsOfOurServer } from "./skips.ts";
import { controllerSuite } from "./suite.ts";

describeConformance(
  { name: "our API server", open: () => OurServer.start(), skips: skipsOfOurServer },
  controllerSuite,
);
