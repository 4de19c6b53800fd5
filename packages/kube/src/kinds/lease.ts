import type { KubeObject } from "../metadata.ts";

/** A lease (coordination.k8s.io/v1): who holds a role, and until when. Times are MicroTime. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
    readonly strategy?: string;
    readonly preferredHolder?: string;
  };
}
