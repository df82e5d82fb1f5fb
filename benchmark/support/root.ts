/** The checkout, with a slash at the end. */
export const ROOT = new URL('../../', import.meta.url);
