import { Type } from 'typebox'
import {
  eventsOf,
  fieldContract as judgeParameters,
  MIN_USUAL_EVENTS,
  type OwnParameter,
} from '../../detection/index.ts'
import { number, percent } from '../../lib/index.ts'
import type { Unjudged } from '../counts/judge-counts.ts'
import { judgePresence } from '../counts/judge-presence.ts'
import { type ParameterFilter, readParameters } from '../counts/presence-counts.ts'
import { learning, noData } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'
import { LOST } from './signal-quality.ts'

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

export const fieldContract = defineProbeType({
  name: 'field_contract',
  title: 'Own parameters',
  description:
    'Whether the parameters that you named in the tag are there as often as usual, or as often as you require.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      ...LOST,
      event: name('Only parameters of this event; without it of every event that names any'),
      parameter: name('Only this parameter; without it every one'),
      min_percent: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 100,
          description:
            'A parameter that is surely on fewer of its events, in percent, is a warning, on surely less than half of that critical',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  figure: percent,
  defaultIntervalSeconds: 300,
  run: ({ config, ...counting }) =>
    judgePresence(
      counting,
      (snapshot, timeline, end) => readParameters(snapshot, timeline, end, config),
      (parameters, end) => judgeParameters({ now: end, parameters }, config),
      (parameters) => unjudged(parameters, config),
    ),
})

function unjudged(parameters: readonly OwnParameter[], filter: ParameterFilter): Unjudged {
  if (parameters.length === 0) {
    return noData(
      `No event has named ${inWords(filter)} in the last 8 days: the table “Own parameters” of the tag does`,
    )
  }
  const most = Math.max(...parameters.map(({ history }) => eventsOf(history.usual)))
  if (most >= MIN_USUAL_EVENTS) return noData('No parameter has been on enough events of the last 24 hours')
  return learning(
    `${number(most)} of ${MIN_USUAL_EVENTS} events that name a parameter are known from the days before the last; judges from then on`,
  )
}

const inWords = ({ event, parameter }: ParameterFilter): string =>
  `${parameter === undefined ? 'a parameter of your own' : `“${parameter}”`}${event === undefined ? '' : ` on “${event}”`}`
