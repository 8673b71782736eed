import { Button } from '@mantine/core'
import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { CopyButton } from './CopyButton.tsx'
import classes from './Secret.module.css'

/** Dots in place of a hidden secret. */
export const masked = (secret: string): string => '•'.repeat(secret.length)

interface Props {
  secret: string
  /** What it is, in a few words: "ingest key". */
  what: string
}

/** A secret that is hidden until revealed; it can be copied either way. */
export function Secret({ secret, what }: Props) {
  const [isShown, setShown] = useState(false)
  const Icon = isShown ? EyeOff : Eye
  return (
    <>
      {isShown ? <Code>{secret}</Code> : <Code label="hidden">{masked(secret)}</Code>}
      <CopyButton text={secret} what={what} />
      <Button
        variant="subtle"
        color="gray"
        size="xs"
        leftSection={<Icon size={16} aria-hidden />}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? 'Hide' : 'Show'}
        <span className="sr-only"> {what}</span>
      </Button>
    </>
  )
}

/** @param label read by screen readers instead */
export function Code({ children, label }: { children: ReactNode; label?: string }) {
  return (
    <code className={classes.code}>
      {label === undefined ? (
        children
      ) : (
        <>
          <span aria-hidden="true">{children}</span>
          <span className="sr-only">{label}</span>
        </>
      )}
    </code>
  )
}
