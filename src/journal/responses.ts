import { type Static, Type } from 'typebox'
import { bitOf, type Counts, TAG_SIGNAL } from './delta.ts'
import { OptionalCounter } from './fields.ts'

const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

/** How the vendor answered a tag: the class of the HTTP status, the worst where a tag asked several times. */
export const ResponseClass = Type.Optional(
  Type.Union(
    [Type.Literal('2xx'), Type.Literal('3xx'), Type.Literal('4xx'), Type.Literal('5xx'), Type.Literal('none')],
    {
      description:
        "Class of the HTTP status that the tag's vendor answered with, the worst of several; `none`: no answer. Left out: not known",
    },
  ),
)
type ResponseClass = Static<typeof ResponseClass>

/** What a batch counts of a tag's executions. */
export const ResponseCounts = Type.Object({
  response_2xx: OptionalCounter,
  response_3xx: OptionalCounter,
  response_4xx: OptionalCounter,
  response_5xx: OptionalCounter,
  response_none: OptionalCounter,
})
export type ResponseCounts = Static<typeof ResponseCounts>

const RESPONSE_COUNTS = CLASSES.map((one): keyof ResponseCounts & keyof typeof TAG_SIGNAL => `response_${one}`)

/** Adds what a batch says. */
export function addResponseCounts(counts: Counts, given: ResponseCounts): void {
  for (const field of RESPONSE_COUNTS) counts[TAG_SIGNAL[field]] = given[field] ?? 0
}

/** By class: a name that is put together for each execution costs more than the rest. */
const BIT_OF_CLASS = {
  '2xx': bitOf(TAG_SIGNAL.response_2xx),
  '3xx': bitOf(TAG_SIGNAL.response_3xx),
  '4xx': bitOf(TAG_SIGNAL.response_4xx),
  '5xx': bitOf(TAG_SIGNAL.response_5xx),
  none: bitOf(TAG_SIGNAL.response_none),
} as const satisfies Record<(typeof CLASSES)[number], number>

/** What one execution says, as a mask of `TAG_SIGNAL_COLUMNS`; 0 where it says nothing. */
export const responseMask = (response: ResponseClass | undefined): number =>
  response === undefined ? 0 : BIT_OF_CLASS[response]

/** Where a batch says that there were more of them than executions: the name of one; undefined where it does not. */
export function excessiveResponses(counts: ResponseCounts, executions: number): keyof ResponseCounts | undefined {
  let all = 0
  return RESPONSE_COUNTS.find((field) => {
    all += counts[field] ?? 0
    return all > executions
  })
}
