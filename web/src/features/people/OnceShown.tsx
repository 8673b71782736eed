import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { PasswordLink } from '../../api/accounts.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import classes from './people.module.css'

interface OnceShownProps {
  text: string
  what: string
  /** Whether another one can be made without harm, so that losing it needs no question. */
  isSpare?: boolean
}

/** A secret that the service shows only once. Asks before it is closed or left without having been copied, except by its button. */
export function OnceShown({ text, what, isSpare = false }: OnceShownProps) {
  const [isKept, setKept] = useState(isSpare)
  const keep = () => setKept(true)
  useUnsaved(() => !isKept, 'This is shown only once. Close it without a copy?')
  return (
    <div className={classes.once} onCopy={keep}>
      <Code block className={classes.secret}>
        {text}
      </Code>
      <CopyButton text={text} what={what} onCopied={keep} />
    </div>
  )
}

interface Props {
  to: string
  link: PasswordLink
  onClose: () => void
}

/** The link that sets someone's password, to pass on to them. */
export function LinkDialog({ to, link: { url, expires_at, mailed }, onClose }: Props) {
  return (
    <Dialog onClose={onClose} title={`Link for ${to}`}>
      <Stack gap="md">
        <Text size="md">
          {mailed ? `It was sent to ${to}.` : `Send it to ${to} yourself: e-mail is off, or did not accept it.`} It
          works once, expires <RelativeTime at={expires_at} />, and is shown only once.
        </Text>
        <OnceShown text={url} what="link" />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
