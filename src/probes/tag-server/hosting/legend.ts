import { DAY } from '../../../lib/index.ts'
import { type Json, type JsonObject, objectIn } from '../memory.ts'
import type { Ask } from './ask-json.ts'
import { readWords, type Words } from './provider-a-answers.ts'
import type { Legend } from './provider-a-judge.ts'

/** What the host's values mean, as it said at a time (epoch ms). */
export interface KeptLegend {
  readonly at: number
  readonly legend: Legend
}

const KEPT_MS = DAY

/**
 * The legend that was kept if it is not too old, or what the host says now. Answers mostly bring their own words, so that a
 * check does not fail for a legend that cannot be had; it is asked for again the next time then.
 */
export async function legendOf(ask: Ask, base: string, kept: Json | undefined, now: number): Promise<KeptLegend> {
  const before = legendIn(kept)
  if (now - before.at < KEPT_MS) return before
  const [statuses, domainStatuses, domainErrors] = await Promise.all([
    ask(`${base}/resources/container-statuses`),
    ask(`${base}/resources/domain-statuses`),
    ask(`${base}/resources/domain-errors`),
  ])
  const wordsOf = (answer: Awaited<ReturnType<Ask>>, known: Words) => (answer.isAnswer ? readWords(answer.body) : known)
  const isToldAll = [statuses, domainStatuses, domainErrors].every((answer) => answer.isAnswer || answer.status === 404)
  return {
    at: isToldAll ? now : before.at,
    legend: {
      containerStatuses: wordsOf(statuses, before.legend.containerStatuses),
      domainStatuses: wordsOf(domainStatuses, before.legend.domainStatuses),
      domainErrors: wordsOf(domainErrors, before.legend.domainErrors),
    },
  }
}

export const legendInMemory = ({ at, legend }: KeptLegend): JsonObject => ({ at, ...legend })

function legendIn(kept: Json | undefined): KeptLegend {
  const { at, containerStatuses, domainStatuses, domainErrors } = objectIn(kept)
  return {
    at: typeof at === 'number' ? at : 0,
    legend: {
      containerStatuses: wordsIn(containerStatuses),
      domainStatuses: wordsIn(domainStatuses),
      domainErrors: wordsIn(domainErrors),
    },
  }
}

const wordsIn = (value: Json | undefined): Words =>
  Object.fromEntries(
    Object.entries(objectIn(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
