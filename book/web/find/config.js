/**
 * A model's shape from a pasted `config.json`, as `steptime.readers.huggingface` reads it: its
 * tables say which keys a family uses, and a test compares both on every family.
 */

class Unreadable extends Error {}

const FILE = "config.json";
const fail = (text) => {
  throw new Unreadable(text);
};

/** Names a value as Python's repr would, for the few kinds that a file holds. */
function shown(value) {
  if (typeof value === "string") return `'${value.slice(0, 80)}'`;
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  return String(JSON.stringify(value)).slice(0, 80);
}

/** The line on which a key stands, 0 if none. */
function lineOf(text, key) {
  return text.split("\n").findIndex((line) => line.includes(`"${key}"`)) + 1;
}

/** The keys of one file: the first of several names that is there, as a whole number. */
function makeSource(text, keys, family, notes, tables) {
  const defaults = Object.fromEntries(family.defaults);
  const stated = {};
  const at = (key) => `${FILE}:${lineOf(text, key)}`;
  function count(names, least = 1, name = names[0]) {
    const key = names.find((one) => keys[one] !== null && keys[one] !== undefined);
    if (key === undefined) return null;
    const value = keys[key];
    if (!Number.isInteger(value)) fail(`${at(key)}: ${key} must be a whole number, got ${shown(value)}`);
    if (value < least) fail(`${at(key)}: ${key} must be >= ${least}, got ${value}`);
    if (value > tables.largest) fail(`${at(key)}: ${key} must be <= ${tables.largest}, got ${value}`);
    const old = (stated[name] ??= { key, value });
    if (old.value !== value) {
      const other = `line ${lineOf(text, old.key)} gives ${old.key} = ${old.value}`;
      fail(`${at(key)}: ${key} = ${value}, but ${other}; make them agree`);
    }
    return value;
  }
  function need(name, names) {
    return count(names) ?? defaults[name] ?? fail(`${FILE} lacks ${names.join(" or ")}`);
  }
  function flag(key) {
    const value = keys[key] ?? null;
    if (value === null || typeof value === "boolean") return value;
    return fail(`${at(key)}: ${key} must be true or false, got ${shown(value)}`);
  }
  const has = (name) => name in defaults;
  return { at, count, flag, has, keys, need, note: (said) => notes.push(said) };
}

/** Return the kind and the keys of the language model inside a wrapper, whatever it is. */
function unwrapped(kind, keys, notes, tables) {
  for (const name of tables.inner) {
    const inner = name.split(".").reduce((whole, part) => (isObject(whole) ? whole[part] : null), keys);
    if (!isObject(inner) || !Object.keys(inner).length) continue;
    const own = inner.model_type ?? null;
    notes.push(`only the language model of this ${kind} is read`);
    const found = own ?? tables.wrappers[kind] ?? kind;
    return [found, { tie_word_embeddings: keys.tie_word_embeddings, ...inner }];
  }
  const bare = kind in tables.wrappers && !(kind in tables.families);
  if (bare) fail(`${FILE}: ${kind} without a text_config`);
  if (tables.towers.some((name) => isFull(keys[name]))) notes.push(`only the language model of this ${kind} is read`);
  return [kind, keys];
}

/** Whether a key says anything, as Python takes it. */
const isFull = (value) => Boolean(value) && (typeof value !== "object" || Object.keys(value).length > 0);

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function architecture(text, whole, notes, tables) {
  const classes = whole.architectures;
  const first = Array.isArray(classes) ? classes[0] : undefined;
  const named = typeof first === "string" ? (tables.classes[first] ?? first) : undefined;
  const outer = whole.model_type ?? named;
  if (outer === undefined) {
    fail(`${FILE} has neither model_type nor architectures: not a config.json of a model`);
  }
  const [kind, keys] = unwrapped(outer, whole, notes, tables);
  const line = lineOf(text, "model_type");
  if (Object.hasOwn(tables.refused_families, kind)) {
    fail(`${FILE}:${line}: architecture ${shown(kind)}: ${tables.sentences[tables.refused_families[kind]]}; ${tables.instead}`);
  }
  if (!Object.hasOwn(tables.families, kind)) {
    fail(`${FILE}:${line}: architecture ${shown(kind)} is not known here; choose a model, or give the sizes in the explorer`);
  }
  return [kind, keys];
}

function refuseParts(text, keys, tables) {
  for (const [key, why] of Object.entries(tables.refused_keys)) {
    const value = keys[key];
    const empty = Array.isArray(value) && !value.length;
    if (value && !empty) {
      fail(`${FILE}:${lineOf(text, key)}: ${key} = ${shown(value)}: ${tables.sentences[why]}; ${tables.instead}`);
    }
  }
  const width = keys.word_embed_proj_dim ?? null;
  if (width !== null && width !== keys.hidden_size) {
    const line = lineOf(text, "word_embed_proj_dim");
    fail(`${FILE}:${line}: word_embed_proj_dim = ${shown(width)}: an embedding of another width than the layers' is not modelled; ${tables.instead}`);
  }
}

/** The key and value heads, with the rules of each family. */
function groupsOf(source, kind, family, heads) {
  const { keys } = source;
  if (kind === "gpt_bigcode") return source.flag("multi_query") === false ? heads : 1;
  if (kind === "mpt") {
    const attention = isObject(keys.attn_config) ? keys.attn_config : {};
    if (attention.attn_type === "multiquery_attention") return 1;
    return attention.kv_n_heads ?? heads;
  }
  const newer = source.flag("new_decoder_architecture") || "n_head_kv" in keys;
  if (["falcon", "RefinedWeb", "RefinedWebModel"].includes(kind) && !newer) {
    return source.flag("multi_query") === false ? heads : 1;
  }
  if (source.has("num_query_groups")) return source.need("num_query_groups", family.groups);
  return source.count(family.groups) ?? heads;
}

function ffnOf(source, family, hidden) {
  const width = source.count(family.ffn);
  if (width === null && !family.ffn_ratio) fail(`${FILE} lacks ${family.ffn.join(" or ")}`);
  const ratio = source.count(["expansion_ratio"]) || family.ffn_ratio;
  if (width === null) return ratio * hidden;
  return family.ffn_halved ? Math.floor(width / 2) : width;
}

/** How many layers have no experts; which ones is told where they do not lead. */
function denseLayers(source, family, layers) {
  let dense = source.count(family.dense_layers, 0) ?? 0;
  const only = source.keys.mlp_only_layers;
  if (Array.isArray(only) && only.length) {
    if (only.some((one, at) => one !== at)) source.note("layers without experts are taken as the first");
    dense = only.length;
  }
  for (const key of ["moe_layer_freq", "decoder_sparse_step", family.step].filter(Boolean)) {
    const step = source.keys[key] ?? null;
    if (Array.isArray(step)) return alternate(source, key, step.filter((one) => one === 0).length);
    if (step === null || Number(step) === 1) continue;
    const every = source.count([key]);
    let mixed = 0;
    for (let layer = dense; layer < layers; layer += 1) if ((layer + 1) % every === 0) mixed += 1;
    return alternate(source, key, layers - mixed);
  }
  return dense;
}

function alternate(source, key, dense) {
  source.note(`${key}: layers with and without experts alternate; the ${dense} without are taken as the first`);
  return dense;
}

function expertsOf(source, family, layers) {
  const none = { num_experts: 0, top_k: 0, expert_ffn_hidden_size: 0, num_shared_experts: 0 };
  const number = family.experts.length ? source.count(family.experts, 0) : null;
  if (!number) return { ...none, num_dense_layers: layers, expert_groups: 0, max_groups: 0 };
  const width = source.need("expert_ffn_hidden_size", family.expert_ffn);
  const total = source.count(family.shared_ffn, 0) ?? 0;
  const listed = source.count(family.shared, 0) ?? 0;
  const top_k = source.need("top_k", family.top_k);
  if (top_k > number) fail(`${FILE}: top_k=${top_k} must be <= num_experts=${number}`);
  return {
    num_experts: number,
    top_k,
    expert_ffn_hidden_size: width,
    num_shared_experts: (total ? Math.ceil(total / width) : listed) + family.fixed_shared,
    num_dense_layers: Math.min(denseLayers(source, family, layers), layers),
    expert_groups: 1,
    max_groups: 0,
  };
}

function latentOf(source, family) {
  const names = ["qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"];
  const of = (name) => [name, family.latent ? source.need(name, [name]) : 0];
  const query = family.latent ? (source.count(["q_lora_rank"], 0) ?? 0) : 0;
  return { q_lora_rank: query, ...Object.fromEntries(["kv_lora_rank", ...names].map(of)) };
}

const WINDOWED = ["sliding_attention", "chunked_attention"];

/** The window and how many layers have it. */
function windowOf(source, family, layers) {
  const windowed = (key, least = 0) => source.count([key], least, "window_size") ?? 0;
  const size = windowed("sliding_window");
  const chunk = () => windowed("attention_chunk_size");
  const kinds = source.keys.layer_types;
  if (Array.isArray(kinds) && kinds.length) {
    const other = kinds.find((kind) => kind !== "full_attention" && !WINDOWED.includes(kind));
    if (other !== undefined) fail(`${source.at("layer_types")}: ${shown(other)} is not known here`);
    const number = kinds.filter((kind) => WINDOWED.includes(kind)).length;
    const wide = size || chunk();
    return number && wide ? [wide, Math.min(number, layers)] : [0, 0];
  }
  if (family.window === "chunks") return chunk() ? [chunk(), layers - Math.floor(layers / 4)] : [0, 0];
  if (family.window === "neo") {
    const local = source.keys.attention_layers;
    const number = Array.isArray(local) ? local.filter((one) => one === "local").length : Math.floor(layers / 2);
    return [windowed("window_size", 1) || 256, Math.min(number, layers)];
  }
  if (!size || source.flag("use_sliding_window") === false) return [0, 0];
  const every = { pattern: 6, pattern4: 4 }[family.window];
  if (every) {
    return [size, layers - Math.floor(layers / (source.count(["sliding_window_pattern"]) || every))];
  }
  if (family.window === "all") return [size, layers];
  if (family.window === "alternate") return [size, Math.ceil(layers / 2)];
  const first = source.count(["max_window_layers"], 0) ?? 0;
  const upper = family.window === "upper" && source.flag("use_sliding_window") && first < layers;
  return upper ? [size, layers - first] : [0, 0];
}

/** The order is that of Python, so that of several faults the same one is told. */
function shapeOf(source, kind, family) {
  const hidden_size = source.need("hidden_size", family.hidden);
  const num_layers = source.need("num_layers", family.layers);
  const num_attention_heads = source.need("num_attention_heads", family.heads);
  const num_query_groups = groupsOf(source, kind, family, num_attention_heads);
  const given = source.count(["head_dim"]) ?? family.fixed_head_dim;
  const experts = expertsOf(source, family, num_layers);
  const ffn_hidden_size = ffnOf(source, family, hidden_size);
  const [window_size, windowed_layers] = windowOf(source, family, num_layers);
  const tied = source.flag("tie_word_embeddings") ?? family.tied;
  const positions = source.count(family.positions) ?? 0;
  const vocab_size = source.need("vocab_size", ["vocab_size"]);
  const gated = "mlp_gated" in source.keys ? source.flag("mlp_gated") : family.gated;
  const latent = latentOf(source, family);
  const further = source.keys.use_mtp === false ? 0 : source.count(["num_nextn_predict_layers", "num_mtp_modules"], 0);
  if (further) source.note("layers that predict further tokens are not counted");
  if (!given && !latent.v_head_dim && hidden_size % num_attention_heads) {
    fail(`${FILE}: hidden_size=${hidden_size} does not divide into num_attention_heads=${num_attention_heads}; give head_dim`);
  }
  if (num_attention_heads % num_query_groups) {
    fail(`${FILE}: num_attention_heads=${num_attention_heads} must be a multiple of num_query_groups=${num_query_groups}`);
  }
  return {
    ...{ num_layers, hidden_size, ffn_hidden_size, num_attention_heads, num_query_groups, vocab_size },
    ...{ gated: Number(Boolean(gated)), tied: Number(tied), window_size, windowed_layers },
    head_dim: latent.v_head_dim || given || hidden_size / num_attention_heads,
    learned_positions: positions + (positions > 0 ? family.extra_positions : 0),
    ...experts,
    ...latent,
  };
}

/** Return {shape, kind, notes}, or {refused}: what a pasted file says, by the reader's tables. */
export function readConfig(text, tables) {
  const notes = [];
  try {
    const whole = parsed(text);
    const [kind, keys] = architecture(text, whole, notes, tables);
    const family = { ...tables.plain, ...tables.families[kind] };
    refuseParts(text, keys, tables);
    const shape = shapeOf(makeSource(text, keys, family, notes, tables), kind, family);
    if (family.told) notes.push(family.told);
    return { shape, kind, notes };
  } catch (error) {
    if (error instanceof Unreadable) return { refused: error.message };
    throw error;
  }
}

function parsed(text) {
  let whole = null;
  try {
    whole = JSON.parse(text);
  } catch (error) {
    fail(`not valid JSON: ${error.message}`);
  }
  return isObject(whole) ? whole : fail(`${FILE}: expected a JSON object`);
}
