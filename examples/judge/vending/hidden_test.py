import unittest

import solution

STOCK = {"A1": [150, 2], "A2": [90, 1], "B1": [200, 0]}


class Buying(unittest.TestCase):
    def test_exact_money(self):
        self.assertEqual(solution.run(STOCK, [["coin", 100], ["coin", 50], ["select", "A1"]])[-1], ["item", "A1", 0])

    def test_change(self):
        self.assertEqual(solution.run(STOCK, [["coin", 200], ["select", "A1"]])[-1], ["item", "A1", 50])

    def test_missing_money_keeps_the_credit(self):
        out = solution.run(STOCK, [["coin", 50], ["select", "A2"], ["coin", 50], ["select", "A2"]])
        self.assertEqual(out, [["credit", 50], ["missing", 40], ["credit", 100], ["item", "A2", 10]])

    def test_without_money(self):
        self.assertEqual(solution.run(STOCK, [["select", "A2"]]), [["missing", 90]])

    def test_sold_out_from_the_start(self):
        self.assertEqual(solution.run(STOCK, [["coin", 200], ["select", "B1"]])[-1], ["sold out", "B1"])

    def test_sold_out_after_the_last(self):
        events = [["coin", 100], ["select", "A2"], ["coin", 100], ["select", "A2"], ["cancel"]]
        out = solution.run(STOCK, events)
        self.assertEqual(out[1:], [["item", "A2", 10], ["credit", 100], ["sold out", "A2"], ["return", 100]])

    def test_a_slot_that_does_not_exist(self):
        self.assertEqual(solution.run(STOCK, [["select", "Z9"]]), [["sold out", "Z9"]])

    def test_foreign_coins_come_back(self):
        self.assertEqual(solution.run(STOCK, [["coin", 25], ["coin", 0]]), [["return", 25], ["return", 0]])


class Cancelling(unittest.TestCase):
    def test_gives_all_coins_back(self):
        out = solution.run(STOCK, [["coin", 50], ["coin", 20], ["cancel"], ["cancel"]])
        self.assertEqual(out[-2:], [["return", 70], ["nothing"]])

    def test_nothing_was_paid(self):
        self.assertEqual(solution.run(STOCK, [["cancel"]]), [["nothing"]])


class Service(unittest.TestCase):
    def test_fill_and_empty(self):
        events = [["coin", 100], ["select", "A2"], ["open"], ["fill", ["A2", 3]], ["empty"], ["empty"], ["close"]]
        out = solution.run(STOCK, events)
        self.assertEqual(out[2:], [["opened"], ["filled", 3], ["taken", 90], ["taken", 0], ["closed"]])

    def test_shut_while_a_customer_has_credit(self):
        out = solution.run(STOCK, [["coin", 10], ["open"], ["cancel"], ["open"]])
        self.assertEqual(out[1:], [["refused"], ["return", 10], ["opened"]])

    def test_no_sale_while_open(self):
        out = solution.run(STOCK, [["open"], ["coin", 100], ["select", "A2"], ["cancel"]])
        self.assertEqual(out[1:], [["return", 100], ["refused"], ["refused"]])

    def test_an_unknown_slot_is_not_filled(self):
        self.assertEqual(solution.run(STOCK, [["open"], ["fill", ["Z9", 1]]])[-1], ["unknown", "Z9"])

    def test_service_keys_need_an_open_machine(self):
        self.assertEqual(solution.run(STOCK, [["fill", ["A1", 1]], ["close"]]), [["unknown", "fill"], ["unknown", "close"]])


class States(unittest.TestCase):
    def test_a_state_can_be_gone_on_from_twice(self):
        paid, _ = solution.step(solution.start(STOCK), ["coin", 100])
        for _ in range(2):
            state, out = solution.step(paid, ["select", "A2"])
            self.assertEqual(out, ["item", "A2", 10])
            self.assertEqual((state["stock"]["A2"], state["taken"], state["mode"]), ([90, 0], 90, "idle"))

    def test_two_ways_to_the_same_state(self):
        left, _ = solution.step(solution.start(STOCK), ["coin", 100])
        right = solution.start(STOCK)
        for coin in (50, 20, 20, 10):
            right, _ = solution.step(right, ["coin", coin])
        self.assertEqual(left, right)

    def test_two_machines_with_one_stock(self):
        for _ in range(2):
            self.assertEqual(solution.run({"A2": [90, 1]}, [["coin", 100], ["select", "A2"]])[-1], ["item", "A2", 10])
