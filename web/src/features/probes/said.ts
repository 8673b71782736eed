import { notifications } from '@mantine/notifications'

/** Shows an error that nothing else on the page shows. */
export const said = (error: Error): void => {
  notifications.show({ color: 'danger', message: error.message })
}
