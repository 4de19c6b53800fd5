/** The folder of a file, without a slash at its end; empty for a file named without one. */
export function folderOf(path: string): string {
  const end = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return end < 0 ? "" : end === 0 ? "/" : path.slice(0, end);
}

/** A path that a kubeconfig names, which is relative to the folder that the kubeconfig is in. */
export function resolvePath(folder: string | undefined, path: string): string {
  if (folder === undefined || folder === "" || /^([/\\]|[A-Za-z]:[/\\])/.test(path)) return path;
  return `${folder.replace(/[/\\]$/, "")}/${path}`;
}
