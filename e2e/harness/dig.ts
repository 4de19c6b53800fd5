import { output } from "./command.ts";

/** An answer as `dig` prints it. */
export interface DigAnswer {
  readonly status: string;
  readonly flags: readonly string[];
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
  /** Data of the answer's A and AAAA records, sorted. */
  readonly addresses: readonly string[];
  readonly raw: string;
}

export interface Question {
  readonly server: string;
  readonly port: number;
  readonly name: string;
  readonly type?: string;
  /** More words for dig, such as `+tcp`, `-b address`. */
  readonly options?: readonly string[];
}

/** Asks one server once with `dig`. Throws where dig got no answer. */
export async function dig(question: Question): Promise<DigAnswer> {
  const raw = await output("dig", [
    `@${question.server}`,
    "-p",
    String(question.port),
    "+tries=1",
    "+time=2",
    "+norecurse",
    ...(question.options ?? []),
    question.name,
    question.type ?? "A",
  ]);
  return parseDig(raw);
}

/** Reads dig's default output. */
export function parseDig(raw: string): DigAnswer {
  const section = (title: string): string[] => {
    const match = new RegExp(`;; ${title} SECTION:\\n([\\s\\S]*?)(?:\\n\\n|$)`).exec(raw);
    return match === null ? [] : match[1]!.split("\n").filter((line) => line !== "" && !line.startsWith(";"));
  };
  const answer = section("ANSWER");
  return {
    status: /status: (\w+)/.exec(raw)?.[1] ?? "",
    flags: (/flags: ([a-z ]*);/.exec(raw)?.[1] ?? "").split(" "),
    answer,
    authority: section("AUTHORITY"),
    additional: section("ADDITIONAL"),
    addresses: answer
      .map((line) => line.split(/\s+/))
      .filter((fields) => fields[3] === "A" || fields[3] === "AAAA")
      .map((fields) => fields[4]!)
      .toSorted(),
    raw,
  };
}
