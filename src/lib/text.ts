/**
 * The text without those of these characters that stand at its end, as `withoutEnd('a//', '/')` is `a`. The pattern `/\/+$/`
 * would do the same, in time that grows with the square of a text that holds many of them elsewhere.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** An address without its query and fragment, which may hold keys; `?…` shows that there was one. */
export function maskedQuery(address: string): string {
  const at = address.search(/[?#]/)
  return at === -1 ? address : `${address.slice(0, at)}?…`
}
