import { Button, type ButtonProps, Group, Popover, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { saidBy, useMyName } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'

interface HandlePopoverProps {
  /** The text of both buttons: "Acknowledge". */
  action: string
  /** @throws ApiError when the service refuses it */
  run: (said: { by?: string; comment: string | null }) => Promise<unknown>
  /** What it means, in a sentence. */
  children: ReactNode
  variant?: ButtonProps['variant']
}

/** On the narrowest screens, those of text at 400 %, with a margin. */
const WIDTH = 'min(20rem, calc(100vw - 2rem))'

/** A button that asks who and why, both optional, before it acknowledges or resolves. */
export function HandlePopover(props: HandlePopoverProps) {
  const [isOpen, setOpen] = useState(false)
  const [comment, setComment] = useState('')
  // The comment survives closing the popover, because a click beside it is easily made.
  useUnsaved(() => comment.trim() !== '')
  const onDone = () => {
    setComment('')
    setOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={WIDTH} trapFocus returnFocus>
      <Popover.Target>
        <Button variant={props.variant ?? 'default'} onClick={() => setOpen(!isOpen)}>
          {props.action}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={props.action}>
        <Form {...props} {...{ comment, setComment, onDone }} />
      </Popover.Dropdown>
    </Popover>
  )
}

interface FormProps extends HandlePopoverProps {
  comment: string
  setComment: (comment: string) => void
  onDone: () => void
}

function Form({ action, run, children, comment, setComment, onDone }: FormProps) {
  const [name, setName] = useMyName()
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  const form = useRef<HTMLFormElement>(null)
  const submit = async () => {
    setBusy(true)
    try {
      await run({ ...saidBy(name), comment: comment.trim() === '' ? null : comment })
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      // The question was closed, so nothing else would show it.
      if (form.current === null) notifyOf('Not changed')({ message })
      setRefusal(message)
      setBusy(false)
      return
    }
    onDone()
  }
  return (
    <form
      ref={form}
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
          placeholder="What you found, what you are doing"
          autosize
          minRows={2}
          maxLength={1_000}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          error={refusal}
          data-autofocus
        />
        {setName !== null && (
          <TextInput
            label="Your name"
            placeholder="As others know you"
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
