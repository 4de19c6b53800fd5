import type { LabCommand, LabCommandAnswer } from "../../lab-commands.ts";

/** Asks the lab to do something. Resolves with its answer, a refusal included; rejects when the server is away. */
export async function sendCommand(command: LabCommand): Promise<LabCommandAnswer> {
  const response = await fetch("/lab/commands", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(command),
  });
  return (await response.json()) as LabCommandAnswer;
}
