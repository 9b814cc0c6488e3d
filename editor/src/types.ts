// The page's side of the types: completions, hover and problems, asked of one worker that all editors share.
import { autocompletion, completeFromList, ifNotIn } from "@codemirror/autocomplete";
import { typescriptSnippets } from "@codemirror/lang-javascript";
import type { Extension } from "@codemirror/state";
import type { TooltipView } from "@codemirror/view";
import {
  type HoverInfo,
  tsAutocompleteWorker,
  tsFacetWorker,
  tsHoverWorker,
  tsLinterWorker,
  tsSyncWorker,
} from "@valtown/codemirror-ts";
import type { WorkerShape } from "@valtown/codemirror-ts/worker";
import { type Remote, wrap } from "comlink";
import type { TypesWorker } from "./types_worker";

declare const TYPES_WORKER: string;

/** An editor's connection to the worker. */
export interface Connection {
  extension: Extension;
  update(text: string): void;
  close(): void;
}

/**
 * Problems that say nothing of a val: modules that the page has no types of, what only a browser has (vals send such
 * code to browsers), and JSX whose library is one of those modules.
 */
const UNTOLD = [2307, 2503, 2584, 2669, 2686, 2792, 2812, 2874, 2875, 7016, 7026];

let shared: Promise<Remote<TypesWorker>> | undefined;
let files = 0;

async function start(): Promise<Remote<TypesWorker>> {
  const worker = wrap<TypesWorker>(new Worker(new URL(TYPES_WORKER, import.meta.url), { type: "module" }));
  await worker.initialize();
  return worker;
}

export async function connectTypes(text: string): Promise<Connection> {
  shared ??= start().catch((cause) => {
    shared = undefined;
    throw cause;
  });
  const worker = await shared;
  const path = `/val_${++files}.tsx`;
  await worker.updateFile({ path, code: text });
  const aside = [
    "String",
    "TemplateString",
    "LineComment",
    "BlockComment",
    "RegExp",
    "PropertyName",
    "JSXText",
  ];
  return {
    extension: [
      tsFacetWorker.of({ path, worker: worker as unknown as WorkerShape }),
      tsSyncWorker(),
      tsLinterWorker({ diagnosticCodesToIgnore: UNTOLD }),
      tsHoverWorker({ renderTooltip }),
      autocompletion({
        override: [tsAutocompleteWorker(), ifNotIn(aside, completeFromList(typescriptSnippets))],
      }),
    ],
    update: (code) => void worker.updateFile({ path, code }),
    close: () => void worker.closeFile(path),
  };
}

function renderTooltip({ quickInfo }: HoverInfo): TooltipView {
  const dom = document.createElement("div");
  dom.className = "cm-typeHint";
  const joined = (parts: readonly { text: string }[] | undefined) =>
    parts?.map(({ text }) => text).join("") ?? "";
  dom.append(joined(quickInfo?.displayParts));
  const documentation = joined(quickInfo?.documentation);
  if (documentation) {
    const docs = dom.appendChild(document.createElement("div"));
    docs.className = "cm-typeHint__docs";
    docs.textContent = documentation;
  }
  return { dom };
}
