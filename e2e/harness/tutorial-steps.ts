/** One thing that a reader of a tutorial does: writes a file, or does something in a terminal and looks at what it says. */
export type TutorialStep =
  | { readonly do: "write"; readonly file: string; readonly text: string }
  | {
      readonly do: "run" | "interrupt" | "read";
      /** Named after `terminal=` of the block; absent where commands end by themselves. */
      readonly terminal: string | undefined;
      /** Empty but for `run`. */
      readonly command: string;
      /** What is shown below it; empty: nothing is. */
      readonly shown: string;
    };

/**
 * The steps of a tutorial in Markdown. A block below a line with nothing but a file name in backticks is that file. In a block
 * `console`, lines that begin with `$ ` are commands and what follows them is their output; `^C` is that key. One marked
 * `console terminal=NAME` is about a terminal in which a command goes on running.
 */
export function tutorialSteps(markdown: string): TutorialStep[] {
  const steps: TutorialStep[] = [];
  for (const match of markdown.matchAll(/(?:^`([^`\n]+)`:\n\n)?^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const [, file, language, mark = "", text = ""] = match;
    if (file !== undefined) steps.push({ do: "write", file, text });
    else if (language === "console") steps.push(...consoleSteps(text, /\bterminal=(\w+)/.exec(mark)?.[1]));
  }
  return steps;
}

function consoleSteps(text: string, terminal: string | undefined): TutorialStep[] {
  const parts = text.split(/^(?=\$ |\^C$)/m).filter((part) => part !== "");
  return parts.map((part) => {
    const [first = "", ...rest] = part.split("\n");
    const shown = rest.join("\n").trimEnd();
    if (first.startsWith("$ ")) return { do: "run", terminal, command: first.slice(2), shown };
    if (first === "^C") return { do: "interrupt", terminal, command: "", shown };
    return { do: "read", terminal, command: "", shown: part.trimEnd() };
  });
}

/** What matches output that is shown with `…`: a line of it alone stands for any lines, within a line it is part of that. */
export function shownPattern(shown: string): RegExp {
  const lines = shown.split("\n").map((line) =>
    line === "…"
      ? "(?:.*\\n)*?"
      : `${line
          .split("…")
          .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
          .join(".*")}\\s*?\\n`,
  );
  return new RegExp(`^${lines.join("")}`, "m");
}
