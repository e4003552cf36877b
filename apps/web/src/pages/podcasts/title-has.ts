/** Whether a title has a text in it, in upper or lower case and with or without accents; an empty text is in every title. */
export function titleHas(title: string, text: string | undefined): boolean {
  const plain = (value: string) => value.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain(title).includes(plain(text ?? '').trim());
}
