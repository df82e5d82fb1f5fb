/** A function of the C library, and the `errno` of its last call. */
export interface LibcFunction {
  readonly call: (...parameters: unknown[]) => number;
  readonly errno: () => number;
}

/** The function with that C declaration, through koffi; undefined where that optional package, or the function, is missing. */
export async function loadLibcFunction(declaration: string): Promise<LibcFunction | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    return { call: koffi.load(null).func(declaration), errno: () => koffi.errno() };
  } catch {
    return undefined;
  }
}
