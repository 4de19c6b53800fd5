import type { KubeClient } from "@meridian/controller";
import { isStatusError, podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import type { LabCopy } from "./lab-copy.ts";
import { labNamespace, newPod, withNextValue } from "./lab-pods.ts";
import { pageUser } from "./lab-users.ts";
import type { LabView } from "./lab-view.ts";

/** What the user of the page writes. What the server refuses is a line of the log, since that is what the lab is about. */
export class PageWriter {
  readonly #client: KubeClient;
  readonly #view: LabView;

  constructor(client: KubeClient, view: LabView) {
    this.#client = client;
    this.#view = view;
  }

  /** `fieldManager`: who it is for, if not the user of the page. */
  async create(name: string, fieldManager: string = pageUser): Promise<void> {
    await this.#write("create", name, () => this.#client.create(podType, newPod(name), { fieldManager }));
  }

  async change(name: string): Promise<void> {
    await this.#write("change", name, async () => {
      const pod = await this.#client.get<Pod>(podType, { name, namespace: labNamespace });
      await this.#client.update(podType, withNextValue(pod), asPage);
    });
  }

  async delete(name: string): Promise<void> {
    const ref = { name, namespace: labNamespace };
    await this.#write("delete", name, () => this.#client.delete(podType, ref, { gracePeriodSeconds: 0 }));
  }

  /** Changes a Pod as a copy has it, naming the version that the copy has. False: the copy has no such Pod. */
  async changeAsSeenBy(copy: LabCopy, name: string): Promise<boolean> {
    const pod = copy.informer.lister.get(`${labNamespace}/${name}`);
    if (pod === undefined) return false;
    const { line } = this.#view;
    const sentVersion = line.versionOf(pod.metadata.resourceVersion ?? "");
    const about = { copy: copy.name, name, sentVersion };
    try {
      const { metadata } = await this.#client.update(podType, withNextValue(pod), asPage);
      const version = line.versionOf(metadata.resourceVersion ?? "");
      this.#view.tell({ code: "staleWriteAccepted", ...about, version });
    } catch (error) {
      if (!isStatusError(error)) throw error;
      await this.#view.look();
      const pods = this.#view.reading?.pods ?? [];
      const current = pods.find(({ metadata }) => metadata.name === name)?.metadata.resourceVersion;
      this.#view.tell({
        code: "staleWriteRefused",
        ...about,
        status: error.code,
        reason: error.reason ?? "",
        currentVersion: current === undefined ? null : line.versionOf(current),
      });
    }
    return true;
  }

  async #write(
    action: "create" | "change" | "delete",
    name: string,
    write: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isStatusError(error)) throw error;
      this.#view.tell({ code: "pageRefused", action, name, status: error.code, reason: error.reason ?? "" });
    }
  }
}

const asPage = { fieldManager: pageUser };
