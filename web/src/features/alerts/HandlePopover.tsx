import { Button, type ButtonProps, Group, Popover, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { saidBy, useMyName } from '../../api/session.ts'

interface HandlePopoverProps {
  /** On both buttons: "Acknowledge". */
  action: string
  /** @throws what the interface refused */
  run: (said: { by?: string; comment: string | null }) => Promise<unknown>
  /** What it means, in a sentence. */
  children: ReactNode
  variant?: ButtonProps['variant']
}

/** A button that asks who and why, both optional, before it acknowledges or resolves. */
export function HandlePopover(props: HandlePopoverProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={320} trapFocus>
      <Popover.Target>
        <Button variant={props.variant ?? 'default'} onClick={() => setOpen(!isOpen)}>
          {props.action}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={props.action}>
        <Form {...props} onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

function Form({ action, run, children, onDone }: HandlePopoverProps & { onDone: () => void }) {
  const [name, setName] = useMyName()
  const [comment, setComment] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  const submit = async () => {
    setBusy(true)
    try {
      await run({ ...saidBy(name), comment: comment.trim() === '' ? null : comment })
    } catch (thrown) {
      setRefusal(thrown instanceof Error ? thrown.message : String(thrown))
      setBusy(false)
      return
    }
    onDone()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {children}
        </Text>
        <Textarea
          label="Comment"
          placeholder="What you found, what you do"
          autosize
          minRows={2}
          maxLength={1_000}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          error={refusal}
          data-autofocus
        />
        <TextInput
          label="Your name"
          placeholder="As others know you"
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
