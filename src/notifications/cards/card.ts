import type { Fact } from '../message.ts'
import { cut, oneLine } from './text.ts'

/** How bad it is, for colours. */
export type Tone = 'critical' | 'warning' | 'ok' | 'neutral'

/**
 * A message in words, before any service's markup. In the order in which it is read: what broke, since when, measured
 * against expected, what changed shortly before, where to look. Printable text of bounded length throughout.
 */
export interface Card {
  tone: Tone
  /** `[CRITICAL] shop.acme.com — Tag failures`; at most 150 characters. */
  heading: string
  /** What is wrong in one line. */
  what: string
  /** ` since 09:42 CET (42 min)`, to be said right after `what` where there is one line only. */
  since: string | null
  /** What explains it; may be long. */
  paragraphs: readonly string[]
  facts: readonly Fact[]
  /** What changed shortly before. */
  change: string | null
  /** One for each of several alerts, the worst first. */
  lines: readonly Line[]
  footer: string | null
  link: { label: string; url: string }
  /** The same for all messages about one alert. */
  thread: string | null
}

/** Beside each line of a list: many people cannot see colour, and a chat has none there. */
export const SHAPES: Readonly<Record<Tone, string>> = { critical: '■', warning: '▲', ok: '●', neutral: '•' }

export interface Line {
  tone: Tone
  text: string
}

export interface CardOptions {
  /** `PUBLIC_URL` without a slash at its end. */
  publicUrl: string
  /** When it is sent, epoch ms: lengths of time are those of then. */
  at: number
}

/** The whole in one line, as telephones show it. */
export const summaryOf = ({ heading, what, since }: Card): string => `${heading}: ${what}${since ?? ''}`

/** The lines, as many as `max`, and how many more there are. */
export function linesWithin({ lines }: Card, max: number): { shown: readonly Line[]; more: string | null } {
  if (lines.length <= max) return { shown: lines, more: null }
  return { shown: lines.slice(0, max), more: `and ${lines.length - max} more` }
}

export const fact = (label: string, value: string): Fact => ({
  name: cut(oneLine(label), 40) || '?',
  value: cut(oneLine(value), 300) || '–',
})
