import { forTags, parentName, tags, type Tag } from "../fleet/fleet-map.ts";
import { allCuts, isTogether, textOf, type Cut } from "./cuts.ts";
import { documentedByK8gb } from "./k8gb-documents.ts";
import { matrixCases, primary, type MatrixCase } from "./matrix-cases.ts";
import { runMatrix, type Matrix } from "./run-matrix.ts";

type Answers = Readonly<Record<Tag, readonly Tag[] | undefined>>;

/** Where the matrix stands, from the root of the checkout. */
export const matrixPath = "docs/partition-matrix.md";

/** Runs every cut under every strategy, and writes the document about it. */
export async function matrixDocument(): Promise<string> {
  const matrices = {
    meridian: await runMatrix({ kind: "meridian" }),
    held: await runMatrix({ kind: "meridian", splitBrainThresholdSeconds: 86_400 }),
    k8gb: await runMatrix({ kind: "k8gb" }),
  };
  const parts = [head(matrices), ...matrixCases.map((of, index) => section(of, { index, ...matrices }))];
  return `${parts.join("\n\n")}\n`;
}

function head(of: { readonly meridian: Matrix; readonly held: Matrix; readonly k8gb: Matrix }): string {
  const rows = (["meridian", "held", "k8gb"] as const).map((name) => {
    const counts = countsOf(of[name]);
    const label = { meridian: "Meridian", held: "Meridian with a threshold", k8gb: "k8gb" }[name];
    return `| ${label} | ${counts.premature} | ${counts.empty} | ${counts.apart} |`;
  });
  return [
    `# What is answered when the network falls apart`,
    ``,
    `Every cut of three clusters and their parent's DNS server, under every strategy, with the primary \`${primary}\` healthy or`,
    `not (under the other strategies the same cluster is); \`us\` and \`za\` are healthy. The simulator makes this document:`,
    `\`npm run sim -- --matrix\`, and a test fails where it differs.`,
    ``,
    `- A cut names the groups that still reach each other: \`eu / us za parent\` leaves \`eu\` alone.`,
    `- A cell says which clusters' addresses are answered: \`eu\` where all clusters answer that, else by cluster. \`-\` is`,
    `  an empty answer. What a cluster answers that clients beside the parent do not reach stands in brackets.`,
    `- **Meridian** is without \`splitBrainThresholdSeconds\`, or with one that has passed: what does not answer counts for nothing, as with`,
    `  k8gb. **With a threshold** is for as long as it lasts: the last known targets of an unreachable peer stand.`,
    `- **k8gb** is a model of k8gb v0.21 written from its observable behaviour; **its documents** is what its page on split brain says of`,
    `  two clusters and the edge DNS server, \`?\` where that says nothing.`,
    ``,
    `Over all ${allCuts().length * matrixCases.length} rows and three clusters each:`,
    ``,
    `| | answered a secondary although the primary is healthy | answered nothing | answered otherwise than another cluster |`,
    `| --- | --- | --- | --- |`,
    ...rows,
    ``,
    `A cluster that is cut off from the parent only, and not from its peers, differs most: Meridian keeps the last known addresses of its`,
    `peers and asks them, while k8gb forgets whom it cannot look up. Without a threshold a primary that nobody reaches is`,
    `left in favour of those that are reached, also while it serves: that is the price of leaving a dead one at once.`,
  ].join("\n");
}

function countsOf(matrix: Matrix): { premature: number; empty: number; apart: number } {
  const counts = { premature: 0, empty: 0, apart: 0 };
  for (const row of matrix)
    for (const [index, answers] of row.entries()) {
      const { strategy, isPrimaryHealthy } = matrixCases[index]!;
      const texts = tags.map((tag) => answers[tag].join(" "));
      counts.empty += texts.filter((text) => text === "").length;
      counts.apart += texts.filter((text) => texts.some((other) => other !== text)).length;
      if (strategy.type === "failover" && isPrimaryHealthy)
        counts.premature += texts.filter((text) => text !== "" && text !== primary).length;
    }
  return counts;
}

function section(
  of: MatrixCase,
  at: { readonly index: number; readonly meridian: Matrix; readonly held: Matrix; readonly k8gb: Matrix },
): string {
  const state = of.isPrimaryHealthy ? "healthy" : "not healthy";
  const rows = allCuts().map((cut, row) => {
    const cells = [at.meridian, at.held, at.k8gb].map((matrix) => cell(cut, matrix[row]![at.index]!));
    const documented = forTags((tag) => documentedByK8gb(cut, of, tag));
    return `| ${[textOf(cut), ...cells, cell(cut, documented)].join(" | ")} |`;
  });
  return [
    `## ${of.name}, ${primary} ${state}`,
    ``,
    `| cut | Meridian | with a threshold | k8gb | k8gb's documents |`,
    `| --- | --- | --- | --- | --- |`,
    ...rows,
  ].join("\n");
}

function cell(cut: Cut, answers: Answers): string {
  const text = (tag: Tag): string => {
    const answered = answers[tag];
    return answered === undefined ? "?" : answered.length === 0 ? "-" : answered.join(" ");
  };
  const isAlike = tags.every((tag) => text(tag) === text(tags[0]) && isTogether(cut, tag, parentName));
  if (isAlike) return text(tags[0]);
  const parts = tags.map((tag) => {
    const part = `${tag}: ${text(tag)}`;
    return isTogether(cut, tag, parentName) ? part : `(${part})`;
  });
  return parts.join(", ");
}
