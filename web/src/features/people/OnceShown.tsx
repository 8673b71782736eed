import { Code } from '@mantine/core'
import { CopyButton } from '../../ui/CopyButton.tsx'
import classes from './people.module.css'

/** A secret that the service shows this once, to be copied. */
export function OnceShown({ text, what }: { text: string; what: string }) {
  return (
    <div className={classes.once}>
      <Code block className={classes.secret}>
        {text}
      </Code>
      <CopyButton text={text} what={what} />
    </div>
  )
}
