import { type IngestAnswer, isAccepted } from '../post.ts'

/** The outcome of several requests, in one line. @param asked how many were to be sent */
export function summaryOf(answers: readonly IngestAnswer[], asked: number): string {
  const accepted = answers.filter(isAccepted).length
  const refused = Map.groupBy(
    answers.filter((answer) => !isAccepted(answer)),
    (answer) => answer.status,
  )
  const parts = [
    `${answers.length} of ${asked} answered`,
    `${accepted} accepted`,
    ...Array.from(refused, ([status, those]) => `${those.length} refused with ${status}`),
  ]
  const times = answers.map((answer) => answer.ms).sort((a, b) => a - b)
  const [fastest] = times
  const slowest = times.at(-1)
  const median = times[Math.floor(times.length / 2)]
  if (fastest === undefined || median === undefined || slowest === undefined) return parts.join(', ')
  return `${parts.join(', ')}; fastest ${shown(fastest)}, median ${shown(median)}, slowest ${shown(slowest)}`
}

/** One request in one line. */
export const answerLine = ({ status, body, ms }: IngestAnswer): string => `${status} ${excerpt(body)} ${shown(ms)}`

const EXCERPT = 200

const excerpt = (body: string): string => {
  const line = body.replaceAll(/\s+/g, ' ').trim()
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT)}…`
}

const shown = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`
