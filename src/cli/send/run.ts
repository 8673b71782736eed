import { setTimeout } from 'node:timers/promises'
import { SECOND, StartupError } from '../../lib/index.ts'
import { type IngestAnswer, type IngestTarget, isAccepted, postPayload } from '../post.ts'
import { withProgress } from '../progress.ts'
import { whyUnreachable } from '../unreachable.ts'
import { explainAnswer } from './explain.ts'
import { type Mode, samplePayload } from './sample.ts'
import { answerLine, summaryOf } from './summary.ts'

export interface SendOptions extends IngestTarget {
  mode: Mode
  eventName: string
  count: number
}

/** A rate asks for seconds; a used-up quota asks for days, and is printed instead. */
const LONGEST_WAIT_MS = 10 * SECOND
/** Others may use the same rate: one payload is not tried forever. */
const MAX_ATTEMPTS = 10

type OnAnswer = (answer: IngestAnswer, sent: number) => void

/**
 * Sends and prints; the exit code is 1 when something was refused.
 *
 * @throws StartupError when there is no answer
 */
export async function send(options: SendOptions): Promise<void> {
  const showsBar = options.count > 1 && process.stderr.isTTY === true
  const answers = showsBar
    ? await withProgress('sending', options.count, (update) => sendAll(options, (_answer, sent) => update(sent)))
    : await sendAll(options, (answer) => console.log(answerLine(answer)))
  if (options.count > 1) console.log(summaryOf(answers, options.count))
  for (const explanation of new Set(answers.map((answer) => explainAnswer(answer, options)))) {
    if (explanation === null) continue
    console.error(`tagwarden: ${explanation}`)
    process.exitCode = 1
  }
}

async function sendAll(options: SendOptions, onAnswer: OnAnswer): Promise<IngestAnswer[]> {
  const answers: IngestAnswer[] = []
  while (answers.length < options.count) {
    const answer = await sendInTime(options)
    answers.push(answer)
    onAnswer(answer, answers.length)
    if (!isAccepted(answer)) break
  }
  return answers
}

/** Sends one of several; where the plan's rate asks to wait a moment, it waits and sends again. */
async function sendInTime(options: SendOptions): Promise<IngestAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await sendOne(options)
    const waitMs = Number(answer.retryAfter) * SECOND
    const isToWait = answer.status === 429 && waitMs > 0 && waitMs <= LONGEST_WAIT_MS
    if (options.count === 1 || !isToWait || attempt === MAX_ATTEMPTS) return answer
    await setTimeout(waitMs)
  }
}

async function sendOne(options: SendOptions): Promise<IngestAnswer> {
  try {
    return await postPayload(options, samplePayload(options.mode, options.eventName, Date.now()))
  } catch (thrown) {
    throw new StartupError(`no answer from ${options.endpoint}: ${whyUnreachable(thrown)}`)
  }
}
