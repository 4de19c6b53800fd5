/** A command whose process ends with this one, however this one ends; on Linux, elsewhere it is as it was. */
export function boundCommand(command: readonly string[]): readonly string[] {
  return process.platform === "linux" ? ["setpriv", "--pdeathsig", "KILL", "--", ...command] : command;
}
