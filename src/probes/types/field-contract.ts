import { Type } from 'typebox'
import {
  fieldContract as judgeParameters,
  learnParameter,
  MIN_USUAL_EVENTS,
  type OwnParameter,
  type PARAMETER,
} from '../../detection/index.ts'
import { number, percent } from '../../lib/index.ts'
import { NO_EVENT } from '../../rollups/index.ts'
import { judgePresence, type Presence } from '../counts/judge-presence.ts'
import { type ParameterFilter, parameterOf, parameterReader } from '../counts/presence-counts.ts'
import { learning, noData, type Unjudged } from '../counts/unjudged.ts'
import { defineProbeType } from '../probe-type.ts'
import { LOST } from './signal-quality.ts'

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

export const fieldContract = defineProbeType({
  name: 'field_contract',
  title: 'Custom parameters',
  description:
    'Whether the custom parameters that you named in the tag are present as often as usual, or as often as you require.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      ...LOST,
      event: name('Only parameters of this event; by default those of every event that reports any'),
      parameter: name('Only this parameter; by default all of them'),
      min_percent: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 100,
          description:
            'A parameter on significantly fewer of its events than this, in percent, is a warning; on significantly less than half of it, critical',
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
      {
        ...parameterReader(config),
        key: `field_contract ${JSON.stringify(config)}`,
        learn: (weeks) => learnParameter(weeks, config),
      },
      (kinds, end) => judgeParameters({ now: end, parameters: kinds.map(parameterIn) }, config),
      (kinds) => unjudged(kinds, config),
    ),
})

function parameterIn({ kind, recent, past }: Presence<typeof PARAMETER>): OwnParameter {
  const [eventName, name] = parameterOf(kind)
  return { name, history: { event_name: eventName === NO_EVENT ? null : eventName, recent, past } }
}

function unjudged(kinds: readonly Presence<typeof PARAMETER>[], filter: ParameterFilter): Unjudged {
  if (kinds.length === 0) {
    return noData(
      `No event has reported ${inWords(filter)} in the last 8 days: name it in the tag's table “Custom parameters”`,
    )
  }
  const most = Math.max(...kinds.map(({ past }) => past.events))
  if (most >= MIN_USUAL_EVENTS) return noData('No parameter was on enough events in the last 24 hours')
  return learning(
    `${number(most)} of ${MIN_USUAL_EVENTS} events that name a parameter are known from before the last day; judging starts at ${MIN_USUAL_EVENTS}`,
  )
}

const inWords = ({ event, parameter }: ParameterFilter): string =>
  `${parameter === undefined ? 'a custom parameter' : `“${parameter}”`}${event === undefined ? '' : ` on “${event}”`}`
