import type { ObjectReading } from "../client/object-reading.ts";
import { RawObject } from "./raw-object.ts";
import type { CompleteObject, Slab } from "./raw-object.ts";

const firstSlabBytes = 8 * 1024;
const slabBytesMax = 256 * 1024;
const sparesMax = 4;

/** A full slab of which less than this is held is emptied: its objects move, and its memory is given back. */
const liveShareMin = 0.75;

/**
 * Where the octets of the objects of a copy are: side by side in slabs, so that an object costs little more than its JSON.
 * Objects come and go at random, which leaves holes; a slab with too many is emptied, at the price of copying three
 * octets for each one that came. The emptied slabs are filled again, so that objects that come and go cost no new memory.
 */
export class OctetArena<T> {
  readonly #complete: CompleteObject;
  /** The slab that is being filled. */
  #open: Slab;
  #bytes = firstSlabBytes;
  /** Octets of all objects that somebody holds. */
  #live = 0;
  /** Empty, to be filled next. */
  readonly #spare: Buffer[] = [];

  constructor(complete: CompleteObject) {
    this.#complete = complete;
    this.#open = newSlab(Buffer.allocUnsafeSlow(firstSlabBytes), complete);
  }

  /** Octets of all slabs that have objects in use. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Copies an object in. It is held once, by the caller. */
  put(reading: ObjectReading, key: string = reading.key): RawObject<T> {
    const length = reading.end - reading.start;
    const slab = this.#slabFor(length);
    const at = slab.filled;
    reading.octets.copy(slab.octets, at, reading.start, reading.end);
    const object = new RawObject<T>(reading, { key, slab, at });
    object.holders = 1;
    this.#live += length;
    this.#add(object, slab);
    return object;
  }

  hold(object: RawObject<T>): void {
    object.holders++;
  }

  /** Whoever held the object needs it no more. After the last one nobody can decode it. */
  release(object: RawObject<T>): void {
    if (--object.holders > 0) return;
    const { slab } = object;
    object.slab = noSlab;
    slab.live -= object.length;
    this.#live -= object.length;
    if (slab !== this.#open && slab.live < slab.filled * liveShareMin) this.#empty(slab);
  }

  #empty(slab: Slab): void {
    for (const object of slab.objects) {
      if (object.holders === 0) continue;
      const to = this.#slabFor(object.length);
      slab.octets.copy(to.octets, to.filled, object.at, object.at + object.length);
      object.slab = to;
      object.at = to.filled;
      this.#add(object, to);
    }
    slab.objects.length = 0;
    slab.live = 0;
    slab.filled = 0;
    if (slab.octets.length === slabBytesMax && this.#spare.length < sparesMax) this.#spare.push(slab.octets);
    else this.#bytes -= slab.octets.length;
  }

  #add(object: RawObject<unknown>, slab: Slab): void {
    slab.filled += object.length;
    slab.live += object.length;
    slab.objects.push(object);
  }

  /** A small copy has small slabs: a new one is no larger than twice what there is. */
  #usualSlabBytes(): number {
    let bytes = firstSlabBytes;
    while (bytes < this.#live && bytes < slabBytesMax) bytes *= 2;
    return bytes;
  }

  #slabFor(length: number): Slab {
    if (this.#open.filled + length <= this.#open.octets.length) return this.#open;
    const full = this.#open;
    const bytes = Math.max(length, this.#usualSlabBytes());
    const spare = bytes === slabBytesMax ? this.#spare.pop() : undefined;
    if (spare === undefined) this.#bytes += bytes;
    this.#open = newSlab(spare ?? Buffer.allocUnsafeSlow(bytes), this.#complete);
    if (full.live < full.filled * liveShareMin || full.filled === 0) this.#empty(full);
    return this.#slabFor(length);
  }
}

const newSlab = (octets: Buffer, complete: CompleteObject): Slab => ({
  octets,
  objects: [],
  complete,
  filled: 0,
  live: 0,
});

/** Where objects are that nobody holds. */
const noSlab: Slab = newSlab(Buffer.alloc(0), (value) => value);
