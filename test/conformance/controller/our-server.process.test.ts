import { protobuf } from "@meridian/controller/protobuf";
import { describeConformance } from "./conformance-group.ts";
import { informers } from "./informers.ts";
import { OurServer } from "./our-server.ts";
import { skipsOfOurServer } from "./skips.ts";
import { controllerSuite } from "./suite.ts";

describeConformance(
  { name: "our API server", open: () => OurServer.start(), skips: skipsOfOurServer },
  controllerSuite,
);

describeConformance(
  {
    name: "our API server, which is asked for protobuf and answers in JSON",
    open: () => OurServer.start({ wireFormat: protobuf }),
    skips: {},
  },
  [informers],
);
