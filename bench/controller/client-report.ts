/**
 * What a measured client tells on stdout, one JSON line each. Each client is a process of its own that does what stdin says:
 *
 * | command     | what it does                                                              | answer                          |
 * | ----------- | ------------------------------------------------------------------------- | ------------------------------- |
 * |             | loads everything, and does nothing yet                                    | `ready`                         |
 * | `start`     | copies all ConfigMaps of the namespace `bench`, and follows them          | `synced`                        |
 * | `collect`   | collects garbage and gives free memory back                               | `collected`                     |
 * | `expect N`  | counts updates that handlers are told of, from now on                     | `expecting`, after N `seen`     |
 * | `record`    | notes when a handler is told of an update of which object                 | `recording`                     |
 * | `recorded`  | stops noting                                                              | `recorded`                      |
 *
 * CPU is user and system time of the whole process. The end of stdin ends it.
 */
export interface ClientReports {
  readonly ready: { readonly rssBytes: number; readonly cpuMs: number };
  /** Since `start`, until the handler has been told of every object. */
  readonly synced: {
    readonly ms: number;
    readonly cpuMs: number;
    readonly rssBytes: number;
    readonly objects: number;
  };
  readonly collected: { readonly rssBytes: number; readonly heapBytes: number; readonly objects: number };
  readonly expecting: object;
  /** `ms` from the first update to the last; CPU since `expect`, so that of connecting again is in it. */
  readonly seen: { readonly events: number; readonly ms: number; readonly cpuMs: number };
  readonly recording: object;
  /** Each arrival is the number of an object and microseconds since 1970. */
  readonly recorded: { readonly cpuMs: number; readonly arrivals: readonly (readonly [number, number])[] };
  /** Of a controller in place of an informer: all keys are done. */
  readonly reconciled: { readonly keys: number; readonly ms: number; readonly cpuMs: number };
}
