import { createInterface } from 'node:readline/promises'
import { asError, StartupError } from '../../lib/index.ts'
import { type Answers, QUESTIONS, type Question } from './answers.ts'

/** A person who answers questions on a terminal. */
export interface Terminal {
  ask: (question: string) => Promise<string>
  say: (line: string) => void
  close: () => void
}

/** @throws StartupError from `ask` when the input ends, or at Ctrl-C */
export function openTerminal(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Terminal {
  const lines = createInterface({ input, output })
  // Keeps lines that are pasted together for the next questions; `question` would drop all but the first.
  const answers = lines[Symbol.asyncIterator]()
  return {
    async ask(question) {
      lines.setPrompt(question)
      lines.prompt()
      const { done, value } = await answers.next()
      if (done === true) throw new StartupError('no answer: nothing was written')
      return value.trim()
    },
    say: (line) => void output.write(`${line}\n`),
    close: () => lines.close(),
  }
}

/**
 * Asks the questions that `given` does not answer, and repeats those whose answer is not valid.
 *
 * @throws StartupError naming an invalid option
 */
export async function askAll(terminal: Terminal, given: Partial<Answers>): Promise<Answers> {
  const answers: Partial<Answers> = { ...given }
  for (const question of QUESTIONS) {
    const { name, text, fallback, check } = question
    if (given[name] !== undefined) {
      checkOption(question, given[name], answers)
      continue
    }
    const otherwise = fallback(answers)
    const hint = otherwise === '' ? '' : ` [${otherwise}]`
    for (;;) {
      const answer = (await terminal.ask(`${text}${hint}\n> `)) || otherwise
      try {
        check(answer, answers)
        answers[name] = answer
        break
      } catch (thrown) {
        const { message } = asError(thrown)
        // A rule between several answers names them; one about this answer alone says only what it must be.
        terminal.say(`That does not work: ${thrown instanceof StartupError ? message : `it ${message}`}`)
      }
    }
  }
  return complete(answers)
}

/**
 * Completes the given answers with the meaning of an empty answer.
 *
 * @throws StartupError naming an invalid option
 */
export function withDefaults(given: Partial<Answers>): Answers {
  const answers: Partial<Answers> = {}
  for (const question of QUESTIONS) {
    const { name, fallback } = question
    const answer = given[name] ?? fallback(answers)
    checkOption(question, answer, answers)
    answers[name] = answer
  }
  return complete(answers)
}

/** @throws StartupError naming the option */
function checkOption({ name, check }: Question, answer: string, before: Partial<Answers>): void {
  try {
    check(answer, before)
  } catch (thrown) {
    if (thrown instanceof StartupError) throw thrown
    throw new StartupError(`${OPTIONS[name]} ${asError(thrown).message}`)
  }
}

const OPTIONS = {
  publicUrl: '--public-url',
  data: '--data',
  adminToken: '--admin-token',
  chatWebhook: '--chat-webhook',
} as const satisfies Record<keyof Answers, string>

const complete = ({ publicUrl = '', data = '', adminToken = '', chatWebhook = '' }: Partial<Answers>): Answers => ({
  publicUrl,
  data,
  adminToken,
  chatWebhook,
})
