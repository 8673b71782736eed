/** Verdana's advance widths in thousandths of its size, from the space on: browsers have it, or one that is as wide. */
const ASCII = [
  352, 394, 459, 818, 636, 1076, 727, 269, 454, 454, 636, 818, 364, 454, 364, 454, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 636, 454, 454, 818, 818, 818, 545, 1000, 684, 686, 698, 771, 632, 575, 775, 751, 421, 455, 693, 557, 843,
  748, 787, 603, 787, 695, 684, 616, 732, 684, 989, 685, 615, 685, 454, 454, 454, 818, 636, 636, 601, 623, 521, 623,
  596, 352, 623, 633, 274, 344, 592, 274, 973, 633, 607, 623, 623, 427, 521, 394, 633, 592, 818, 592, 592, 525, 635,
  454, 635, 818,
]
/** What is as wide as it is high: East Asian scripts and pictures. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u
/** Drawn upon the letter before, or not at all. */
const WITHOUT_WIDTH = /[\p{M}\p{Cf}]/u
/** What other letters are wide on average. */
const OTHER = 680

/**
 * How wide a text is, in px. The badge makes the browser keep to it (`textLength`), so where the reader's font is another one
 * it is the gaps between letters that differ and not the badge.
 *
 * @param size of the font, px
 */
export function textWidth(text: string, size: number): number {
  const thousandths = [...text.normalize('NFC')].reduce((sum, letter) => sum + widthOf(letter), 0)
  return (thousandths * size) / 1_000
}

function widthOf(letter: string): number {
  // Taken apart, é is an e with an accent upon it.
  const known = ASCII[(letter.normalize('NFD').codePointAt(0) ?? 0) - 32]
  if (known !== undefined) return known
  if (WITHOUT_WIDTH.test(letter)) return 0
  return WIDE.test(letter) ? 1_000 : OTHER
}

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
