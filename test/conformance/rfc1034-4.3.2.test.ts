import assert from "node:assert/strict";
import { test } from "node:test";
import { ServedZone } from "./served-zone.ts";

// RFC 1034 §4.3.2, the algorithm of a name server, sentence by sentence.

const zone = new ServedZone(`$ORIGIN example.
$TTL 60
@ SOA ns hostmaster 1 7200 1800 86400 30
@ NS ns
ns A 192.0.2.53
www A 192.0.2.1
www TXT "text"
alias CNAME www
alias2 CNAME alias
away CNAME host.elsewhere.
loop CNAME loop
b.c A 192.0.2.2
cut NS ns.cut
cut NS ns.elsewhere.
ns.cut A 192.0.2.54
below.cut A 192.0.2.55
tocut CNAME x.cut
`);

interface Case {
  readonly sentence: string;
  readonly ask: readonly [name: string, type: string];
  readonly answer: string;
}

const cases: readonly Case[] = [
  {
    sentence:
      "Set or clear the value of recursion available in the response depending on whether the name server is willing to provide recursive service.",
    ask: ["www.example", "TXT"],
    answer: 'NOERROR aa | www.example TXT "text" |  | ',
  },
  {
    sentence:
      "Search the available zones for the zone which is the nearest ancestor to QNAME. If such a zone is found, go to step 3, otherwise step 4. (There is no cache and no recursion, so step 4 has nothing: REFUSED.)",
    ask: ["www.elsewhere", "A"],
    answer: "REFUSED |  |  | ",
  },
  {
    sentence: "If the whole of QNAME is matched, we have found the node.",
    ask: ["www.example", "A"],
    answer: "NOERROR aa | www.example A 192.0.2.1 |  | ",
  },
  {
    sentence:
      "If the data at the node is a CNAME, and QTYPE doesn't match CNAME, copy the CNAME RR into the answer section of the response, change QNAME to the canonical name in the CNAME RR, and go back to step 1.",
    ask: ["alias2.example", "A"],
    answer:
      "NOERROR aa | alias.example CNAME www.example., alias2.example CNAME alias.example., www.example A 192.0.2.1 |  | ",
  },
  {
    sentence: "Otherwise, copy all RRs which match QTYPE into the answer section and go to step 6.",
    ask: ["alias.example", "CNAME"],
    answer: "NOERROR aa | alias.example CNAME www.example. |  | ",
  },
  {
    sentence:
      "If a match would take us out of the authoritative data, we have a referral. This happens when we encounter a node with NS RRs marking cuts along the bottom of a zone. Copy the NS RRs for the subzone into the authority section of the reply. Put whatever addresses are available into the additional section.",
    ask: ["x.y.cut.example", "A"],
    answer:
      "NOERROR |  | cut.example NS ns.cut.example., cut.example NS ns.elsewhere. | ns.cut.example A 192.0.2.54",
  },
  {
    sentence: "(The same at the cut itself, also for its NS RRs: they are not authoritative here.)",
    ask: ["cut.example", "NS"],
    answer:
      "NOERROR |  | cut.example NS ns.cut.example., cut.example NS ns.elsewhere. | ns.cut.example A 192.0.2.54",
  },
  {
    sentence: "(What is below a cut is glue at most.)",
    ask: ["below.cut.example", "A"],
    answer:
      "NOERROR |  | cut.example NS ns.cut.example., cut.example NS ns.elsewhere. | ns.cut.example A 192.0.2.54",
  },
  {
    sentence:
      'If at some label, a match is impossible (i.e., the corresponding label does not exist), look to see if a the "*" label exists. If the "*" label does not exist, check whether the name we are looking for is the original QNAME in the query or a name we have followed due to a CNAME. If the name is original, set an authoritative name error in the response and exit.',
    ask: ["nothing.example", "A"],
    answer: "NXDOMAIN aa |  | example SOA | ",
  },
  {
    sentence: "(A node with names below it exists, without data of its own: RFC 4592 §2.2.2, RFC 8020 §2.)",
    ask: ["c.example", "A"],
    answer: "NOERROR aa |  | example SOA | ",
  },
  {
    sentence: "(A node without data of the type is no name error: RFC 2308 §2.2.)",
    ask: ["www.example", "MX"],
    answer: "NOERROR aa |  | example SOA | ",
  },
  {
    sentence: "(An alias that leaves the zones of this server ends the answer; the resolver goes on.)",
    ask: ["away.example", "A"],
    answer: "NOERROR aa | away.example CNAME host.elsewhere. |  | ",
  },
  {
    sentence:
      "(An alias that leads below a cut ends in a referral; AA speaks of the first owner: RFC 1035 §4.1.1.)",
    ask: ["tocut.example", "A"],
    answer:
      "NOERROR aa | tocut.example CNAME x.cut.example. | cut.example NS ns.cut.example., cut.example NS ns.elsewhere. | ns.cut.example A 192.0.2.54",
  },
  {
    sentence: "(An alias of itself is given once.)",
    ask: ["loop.example", "A"],
    answer: "NOERROR aa | loop.example CNAME loop.example. |  | ",
  },
];

for (const { sentence, ask, answer } of cases) {
  test(`${ask.join(" ")}: ${sentence}`, () => {
    assert.equal(zone.answer(...ask), answer);
    assert.equal(zone.ask(...ask).recursionAvailable, false);
  });
}
