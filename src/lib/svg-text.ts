/** Texts of others in pictures of ours. */

/** A text as SVG can hold it in an element or an attribute: without what XML forbids, and without markup. */
export const svgText = (text: string): string =>
  printable(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Without control characters, halves of characters and what is no character: XML 1.0 takes none of them, escaped or not. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\p{Cn}]/gu, ' ').trim()

/** At most `most` characters as people count them, an ellipsis for the rest. */
export function shortened(text: string, most: number): string {
  const characters = Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
