/** All ids of a list that is read by pages, the newest first. @param listBefore the next page of ids that are older than one */
export async function* idsOfPages(listBefore: (before: string | undefined) => Promise<readonly string[]>) {
  let last: string | undefined;
  do {
    const page = await listBefore(last);
    yield* page;
    last = page.at(-1);
  } while (last !== undefined);
}
