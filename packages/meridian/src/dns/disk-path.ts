import { parse, sep } from "node:path";

/** An absolute path as a disk takes it whose folder is the root: relative, with `/`. */
export function diskPath(path: string): string {
  return path.slice(parse(path).root.length).replaceAll(sep, "/");
}
