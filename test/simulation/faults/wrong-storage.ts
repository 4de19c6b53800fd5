import type { Storage } from "@meridian/apiserver";
import type { Disk, DiskLog } from "@meridian/runtime";

export function watchingFromNow(storage: Storage): Storage {
  return over(storage, { watch: (options) => storage.watch({ ...options, after: storage.revision() }) });
}

function over(storage: Storage, changed: Partial<Storage>): Storage {
  return {
    revision: () => storage.revision(),
    compactedRevision: () => storage.compactedRevision(),
    get: (key) => storage.get(key),
    list: (options) => storage.list(options),
    watch: (options) => storage.watch(options),
    compact: (revision) => storage.compact(revision),
    create: (key, value) => storage.create(key, value),
    update: (key, value, expected) => storage.update(key, value, expected),
    delete: (key, expected) => storage.delete(key, expected),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    ...changed,
  };
}

export function hastyDisk(disk: Disk): Disk {
  const hasty = (log: DiskLog): DiskLog => ({
    get sizeBytes() {
      return log.sizeBytes;
    },
    append: (bytes) => log.append(bytes),
    sync: async () => {},
    truncate: (sizeBytes) => log.truncate(sizeBytes),
    close: () => log.close(),
  });
  return {
    read: (path) => disk.read(path),
    replace: (path, content) => disk.replace(path, content),
    openLog: async (path) => hasty(await disk.openLog(path)),
    remove: (path) => disk.remove(path),
    list: (folder) => disk.list(folder),
  };
}
