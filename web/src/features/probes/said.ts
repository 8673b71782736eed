import { notifications } from '@mantine/notifications'

/** Shows an error that nothing on the page would tell of. */
export const said = (error: Error): void => {
  notifications.show({ color: 'danger', message: error.message })
}
