import { type Static, Type } from 'typebox'
import { type Counts, noTagSignals, TAG_SIGNAL } from './delta.ts'
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

/** What one execution says, by place; undefined where it says nothing. */
export function responseSignals(response: ResponseClass | undefined): Counts | undefined {
  if (response === undefined) return undefined
  const counts = noTagSignals()
  counts[TAG_SIGNAL[`response_${response}`]] = 1
  return counts
}

/** Where a batch says that there were more of them than executions: the name of one; undefined where it does not. */
export function excessiveResponses(counts: ResponseCounts, executions: number): keyof ResponseCounts | undefined {
  let all = 0
  return RESPONSE_COUNTS.find((field) => {
    all += counts[field] ?? 0
    return all > executions
  })
}
