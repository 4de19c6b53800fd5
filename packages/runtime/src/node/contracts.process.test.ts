import { describeClock } from "../contracts/clock-contract.ts";
import { describeDisk } from "../contracts/disk-contract.ts";
import { describeHttp } from "../contracts/http-contract.ts";
import { describeRandom } from "../contracts/random-contract.ts";
import { describeStreams } from "../contracts/stream-contract.ts";
import { describeTcp } from "../contracts/tcp-contract.ts";
import { describeUdp } from "../contracts/udp-contract.ts";
import { nodeSubject } from "./testdata/node-subject.ts";
import { createTestCertificates } from "./testdata/test-certificates.ts";

const certificates = await createTestCertificates();

describeClock(nodeSubject);
describeRandom(nodeSubject);
describeDisk(nodeSubject);
describeUdp(nodeSubject);
describeTcp(nodeSubject);
describeStreams(nodeSubject);
describeHttp(nodeSubject, { name: "HTTP/1.1 in the clear" });
describeHttp(nodeSubject, {
  name: "HTTP/2 over TLS",
  serverTls: certificates.server,
  clientTls: { caPem: certificates.caPem },
});
