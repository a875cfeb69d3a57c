/** Numbers and names as they are printed. */

export const MODEL_NAMES = { roofline: "Roofline", baseline: "Baseline", share: "One share of the peak", "llm-analysis": "llm-analysis" };

export const MODEL_ABOUT = {
  roofline: "The roofline model; the source of each run is left out of every constant that is used on it.",
  baseline: "The baseline; its one constant comes from the smallest Megatron-LM run. It does not price 8 bits.",
  share: "The median share of the peak that other sources' runs reach on such a device, in such a precision. It knows no layout.",
  "llm-analysis": "Another open estimator, llm-analysis 0.2.2, at half of the peak. It takes dense runs in 16 bits only, and not all of them.",
};

export const PART_NAMES = {
  compute: "computing", recompute: "recomputing", tensor_parallel: "tensor messages",
  context_parallel: "context messages", expert_parallel: "expert messages", bubble: "bubble",
  pipeline_sends: "pipeline sends", data_parallel: "data messages", optimizer: "optimizer",
};

/** Each story's name and sentence; what is in brackets is an output. */
export const TELL = [
  ["All runs", "No run here played a part in the fit of the constants that predict it. Half of them are missed by less than [median]."],
  ["Megatron-LM, 1.7B to 1T", "One code from 32 GPUs to 3,072: [rows] runs, missed by [mean] on average and by [worst] at most."],
  ["The same, baseline", "One constant comes within [worst], but [slow] of [rows] runs are predicted too slow: see the lower panel."],
  ["Experts", "Mixtures of experts are missed by [mean]: their kernels changed from release to release, and no layout tells."],
  ["A constant guess", "One share of the peak for each kind of device misses by [mean]. It knows nothing of layouts, so its errors fan out."],
  ["Another estimator", "llm-analysis takes [rows] of the runs and misses them by [mean]; the roofline model misses the same ones by [ours]."],
];

const NOTED = { zero: "ZeRO", sp: "sequence parallelism", tied: "tied embeddings", recompute: "recomputation", vpp: "chunks a stage" };

/** What was assumed, in words: "zero: not stated, 0 assumed" is "ZeRO: not stated, 0 assumed". */
export const noted = (note) => capital(note.replace(/^\w+(?=:)/, (name) => NOTED[name] ?? name));

export const percent = (share, digits = 1) => (Number.isFinite(share) ? `${(100 * share).toFixed(digits)} %` : "–");

/** An error with its sign. */
export function signed(error) {
  const size = Math.abs(100 * error).toFixed(1);
  return `${size === "0.0" ? "" : error < 0 ? "−" : "+"}${size} %`;
}

/** A step time to three digits. */
export function seconds(value) {
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Number(value.toPrecision(3)))));
  return `${value.toFixed(decimals)} s`;
}

export const count = (value) => value.toLocaleString("en-US");

/** A device's name: a100-80gb is A100 80 GB. */
export const device = (name) =>
  name.toUpperCase().replaceAll("-", " ").replace(/(\d)(GB|W)(?=\s|$)/g, "$1 $2");

export const capital = (name) => name[0].toUpperCase() + name.slice(1);
export const onWhat = (run) => `${count(run.gpus)} × ${device(run.accelerator)}`;
