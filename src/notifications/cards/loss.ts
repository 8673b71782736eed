import type { Fact, MessageIncident } from '../message.ts'
import { fact } from './card.ts'

/** Returns what the incident costs so far, or cost in the end. */
export const lossOf = (incident: MessageIncident | undefined): Fact[] =>
  typeof incident?.impact?.text !== 'string'
    ? []
    : [fact(incident.impact.final ? 'Lost' : 'Lost so far', incident.impact.text)]

/** Returns the same for the end of a line: `. Lost so far: 267 of 425 purchases (63 %)`. */
export const lossTail = (incident: MessageIncident | undefined): string =>
  lossOf(incident)
    .map(({ name, value }) => `. ${name}: ${value}`)
    .join('')
