import { Button, Code, Group, Stack, Text } from '@mantine/core'
import type { PasswordLink } from '../../api/accounts.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
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

interface Props {
  to: string
  link: PasswordLink
  onClose: () => void
}

/** The link that sets someone's password: for the person who made it to hand on. */
export function LinkDialog({ to, link: { url, expires_at, mailed }, onClose }: Props) {
  return (
    <Dialog onClose={onClose} title={`Link for ${to}`}>
      <Stack gap="md">
        <Text size="md">
          {mailed ? `It was sent to ${to}.` : `Send it to ${to} yourself: e-mail did not take it, or is off.`} It works
          once, ends <RelativeTime at={expires_at} />, and is shown this once.
        </Text>
        <OnceShown text={url} what="link" />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
