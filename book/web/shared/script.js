/** Where the script that runs lies: other files of its folder are found by it. */
export const script = globalThis.document?.currentScript?.src ?? "";
