import type { Tone } from './card.ts'

/** Beside each line of a list: many people cannot see colour, and a chat has none there. */
export const SHAPES: Readonly<Record<Tone, string>> = { critical: '■', warning: '▲', ok: '●', neutral: '•' }
