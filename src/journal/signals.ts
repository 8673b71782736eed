import {
  addConsent,
  addConsentCounts,
  addTagConsentCounts,
  type Consent,
  type ConsentCounts,
  type TagConsent,
} from './consent.ts'
import { type Counts, noSignals, noTagSignals, SIGNAL } from './delta.ts'
import { addIdentifierCounts, addIdentifiers, type IdentifierCounts, type Identifiers } from './identifiers.ts'
import { addResponseCounts, type ResponseCounts } from './responses.ts'
import { addValidity, addValidityCounts, saysValidity, type Validity, type ValidityCounts } from './validity.ts'

/** The parts of an event that count as signals. */
interface EventSignals {
  consent?: Consent
  identifiers?: Identifiers
  ecommerce?: Validity
}

interface BatchSignals {
  consent?: ConsentCounts
  identifiers?: IdentifierCounts
  ecommerce_quality?: ValidityCounts
}

const BASES = [SIGNAL.consent_total, SIGNAL.identifiers_total, SIGNAL.validity_total]

/** The signals that an event counts 1 in, by place; undefined where it says none of it, as senders of version 1 do. */
export function eventSignals({ consent, identifiers, ecommerce }: EventSignals): Counts | undefined {
  const validity = ecommerce !== undefined && saysValidity(ecommerce) ? ecommerce : undefined
  if (consent === undefined && identifiers === undefined && validity === undefined) return undefined
  const counts = noSignals()
  if (consent !== undefined) addConsent(counts, consent)
  if (identifiers !== undefined) addIdentifiers(counts, identifiers)
  if (validity !== undefined) addValidity(counts, validity)
  return withBase(counts)
}

/** The signals that a batch counts, likewise. */
export function batchSignals({ consent, identifiers, ecommerce_quality }: BatchSignals): Counts | undefined {
  const isChecked = ecommerce_quality?.validity_total !== undefined
  if (consent === undefined && identifiers === undefined && !isChecked) return undefined
  const counts = noSignals()
  if (consent !== undefined) addConsentCounts(counts, consent)
  if (identifiers !== undefined) addIdentifierCounts(counts, identifiers)
  if (ecommerce_quality !== undefined) addValidityCounts(counts, ecommerce_quality)
  return withBase(counts)
}

const withBase = (counts: Counts): Counts | undefined =>
  BASES.some((place) => (counts[place] ?? 0) > 0) ? counts : undefined

/** What a batch says of a tag's executions, likewise. */
export function tagSignals(metric: TagConsent & ResponseCounts): Counts | undefined {
  const counts = noTagSignals()
  addTagConsentCounts(counts, metric)
  addResponseCounts(counts, metric)
  return counts.some((count) => count > 0) ? counts : undefined
}
