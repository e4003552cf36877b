export const formTypes: readonly string[];
export function formsOf(
  catalog: unknown,
  type: string,
): { readonly commands: readonly { readonly type: string; readonly schema: object }[] };
