import { Check } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import classes from './setup.module.css'

/** `done` is green, `bad` stands in the way, `waiting` listens. */
export type StepState = 'open' | 'waiting' | 'done' | 'bad'

interface Props {
  number: number
  title: string
  state: StepState
  /** The state in a few words: "first event 3 min ago". */
  word: ReactNode
  children: ReactNode
}

/** One of the numbered steps, with how far it has come. */
export function SetupStep({ number, title, state, word, children }: Props) {
  const id = useId()
  return (
    <li className={classes.step} data-state={state}>
      <section aria-labelledby={id}>
        <header className={classes.stepHead}>
          <span className={classes.number} aria-hidden="true">
            {state === 'done' ? <Check size={16} strokeWidth={2.5} /> : number}
          </span>
          <h2 id={id}>{title}</h2>
          <span className={classes.word} role="status">
            {word}
          </span>
        </header>
        <div className={classes.stepBody}>{children}</div>
      </section>
    </li>
  )
}
