import { fieldsOf } from '../../lib/index.ts'
/** Readers for the answers of provider A (Stape, API v2). Only the fields named here are kept, because answers also contain keys. */

/** A value and its label, either of which may be missing. */
export interface Option {
  type: string | null
  label: string | null
}

export interface ContainerFacts {
  name: string | null
  status: Option
  zone: string | null
  /** The host's warnings to its customer. */
  warnings: readonly string[]
  requestsLimit: number | null
  /** Requests of today, or of the billing period if the answer has it. */
  usage: number | null
  isLimitExceeded: boolean
  minReplicas: number | null
  maxReplicas: number | null
}

export interface DomainFacts {
  name: string
  status: Option
  /** Null without an error. */
  error: Option | null
  /** DNS records that it should have: `CNAME tags.example.com → eu.host.example`. */
  records: readonly string[]
}

/** Meanings of the numbers in answers, by number. */
export type Words = Readonly<Record<string, string>>

/** Unwraps answers of the form `{ body: … }`. */
export function unwrapped(answer: unknown): unknown {
  const { body } = fieldsOf(answer)
  return typeof body === 'object' && body !== null ? body : answer
}

/** More than any plan has. */
const MAX_DOMAINS = 1_000

export function readContainer(answer: unknown): ContainerFacts {
  const container = fieldsOf(unwrapped(answer))
  const subscription = fieldsOf(container.subscription)
  const uses = [container.todayUsage, subscription.usageCount].filter((value) => typeof value === 'number')
  return {
    name: textOf(container.name),
    status: optionOf(container.status),
    zone: optionOf(container.zone).label,
    warnings: listOf(container.warnings).slice(0, 5).flatMap(warningOf),
    requestsLimit: positive(container.requestsLimit),
    usage: uses.length === 0 ? null : Math.max(...uses),
    isLimitExceeded: subscription.limitExceeded === true,
    minReplicas: positive(container.minReplicaCount),
    maxReplicas: positive(container.maxReplicaCount),
  }
}

/** Null when the answer is not a list, so that the domains are unknown. */
export function readDomains(answer: unknown): DomainFacts[] | null {
  const list = unwrapped(answer)
  if (!Array.isArray(list)) return null
  return list.slice(0, MAX_DOMAINS).map((entry) => {
    const domain = fieldsOf(entry)
    return {
      name: textOf(domain.name) ?? 'a domain without a name',
      status: optionOf(domain.status),
      error: domain.error === null || domain.error === undefined ? null : optionOf(domain.error),
      records: listOf(domain.records).slice(0, 5).map(recordOf),
    }
  })
}

/** Legends have about ten; they are kept in the probe's memory. */
const MAX_WORDS = 60

/** Turns a list of options into a table. */
export function readWords(answer: unknown): Words {
  const options = listOf(unwrapped(answer)).slice(0, MAX_WORDS).map(optionOf)
  return Object.fromEntries(
    options.flatMap(({ type, label }) => (type === null || label === null ? [] : [[type, label] as const])),
  )
}

/** The label of a value: its own, the legend's, or the value itself. */
export const wordFor = ({ type, label }: Option, words: Words): string | null =>
  label ?? (type === null ? null : (words[type] ?? type))

function optionOf(value: unknown): Option {
  if (typeof value === 'string' || typeof value === 'number') return { type: textOf(String(value)), label: null }
  const { type, label } = fieldsOf(value)
  return { type: typeof type === 'number' ? String(type) : textOf(type), label: textOf(label) }
}

function warningOf(value: unknown): string[] {
  const warning = fieldsOf(value)
  const text = textOf(warning.preview) ?? textOf(warning.type) ?? textOf(value)
  return text === null ? [] : [text.replace(/<[^<>]*>/g, '').trim()]
}

function recordOf(value: unknown): string {
  const record = fieldsOf(value)
  const type = wordFor(optionOf(record.type), {}) ?? 'record'
  return `${type} ${textOf(record.host) ?? ''} → ${textOf(record.value) ?? ''}`
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : null

const positive = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null)
