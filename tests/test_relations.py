"""Words of relation: what stands under it is not in it, and who reports to whom matters."""

import pytest

from memops.evaluation.bench import judge_pairs
from memops.judge.conflicts import features

APART = [
    ("The deposit was paid by Marlow to Ines", "The deposit was paid by Ines to Marlow"),
    ("Priya was hired by Stellan", "Priya hired Stellan"),
    ("The clinic refused Dan", "Dan refused the clinic"),
    ("Odile visited the museum", "The museum visited Odile"),
    ("The red team beat the blue team", "The red team was beaten by the blue team"),
    ("The invoice was sent by the client", "The invoice was sent to the client"),
    ("We converted the archive from TIFF into PNG", "We converted the archive from PNG into TIFF"),
    ("The spare key is under the flower pot", "The spare key is in the flower pot"),
    ("The cable runs over the conduit", "The cable runs under the conduit"),
    ("The bakery is left of the chemist", "The bakery is right of the chemist"),
    ("The tap turns clockwise to close", "The tap turns clockwise to open"),
    ("Deliver the parcels before the market", "Deliver the parcels after the market"),
    ("The bus stops at the school", "The bus stops near the school"),
    ("Milo walks to the station", "Milo walks from the station"),
    ("The exhibit is upstairs", "The exhibit is downstairs"),
    ("The workshop faces north", "The workshop faces south"),
    ("The router sits inside the cabinet", "The router sits outside the cabinet"),
    ("Leave the crates in front of the shed", "Leave the crates behind the shed"),
    ("Olga reports to Deniz", "Deniz reports to Olga"),
    ("The meeting is with the landlord", "The meeting is about the landlord"),
    ("She pays rent for her brother", "She pays rent to her brother"),
    ("The backup is copied to the vault", "The backup is copied from the vault"),
    ("The dog was bitten by the cat", "The dog bit the cat"),
    ("The draft was reviewed by Noor for Emil", "The draft was reviewed by Emil for Noor"),
    ("The lamp hangs above the desk", "The lamp hangs below the desk"),
    ("Turn the valve up at night", "Turn the valve down at night"),
    ("The train goes via Utrecht", "The train goes to Utrecht"),
    ("The contract ends in spring", "The contract begins in spring"),
    ("押金是小周付给房东的", "押金是房东付给小周的"),
    ("小李被小王批评了", "小李批评了小王"),
    ("阿芳把车借给了老赵", "老赵把车借给了阿芳"),
    ("会议室在楼上", "会议室在楼下"),
    ("药店在邮局左边", "药店在邮局右边"),
    ("钥匙放在盒子里面", "钥匙放在盒子外面"),
    ("仓库在厂房前面", "仓库在厂房后面"),
    ("班车从机场开往酒店", "班车从酒店开往机场"),
    ("窗户朝南", "窗户朝北"),
    ("他住在桥的东边", "他住在桥的西边"),
    ("饭前吃这个药", "饭后吃这个药"),
    ("把数据从旧库导入新库", "把数据从新库导入旧库"),
    ("红队打败了蓝队", "红队被蓝队打败了"),
    ("灯挂在桌子上方", "灯挂在桌子下方"),
    ("小陈给小林转了钱", "小陈让小林转了钱"),
    ("妹妹比姐姐高", "姐姐比妹妹高"),
    ("阿明向经理汇报", "经理向阿明汇报"),
    ("停车场在商场入口", "停车场在商场出口"),
]
ALIKE = [
    ("The deposit was paid by Marlow", "Marlow paid the deposit"),
    ("The lamp hangs above the desk", "The lamp hangs over the desk"),
    ("The spare key is in the blue tin", "The spare key is inside the blue tin"),
    ("Our office is on Vine Street", "The office is on Vine Street"),
    ("Milo walks to the station every day", "Milo walks to the station each day"),
    ("The committee meets on Tuesday at noon", "The committee meets at noon on Tuesday"),
    ("Ines has a nut allergy", "Ines is allergic to nuts"),
    ("The rent is due at the end of the month", "Rent is due at month's end"),
    ("I prefer tea without sugar", "I prefer my tea without sugar"),
    ("The shop is closed on Sundays", "The shop's closed on Sundays"),
    ("押金是小周付的", "小周付了押金"),
    ("会议室在楼上", "会议室位于楼上"),
    ("钥匙在盒子里", "钥匙在盒子里面"),
    ("他住在桥的东边", "他住在桥东边"),
    ("小王批评了小李", "小李被小王批评了"),
    ("用户喜欢不加糖的茶", "用户喜欢喝不加糖的茶"),
    ("每周二开例会", "每个周二开例会"),
    ("房租月底交", "月底交房租"),
]


def called_the_same(pairs):
    rows = judge_pairs([{"a": a, "b": b} for a, b in pairs])
    return [pair for pair, row in zip(pairs, rows, strict=True) if row["duplicate"]]


def test_another_word_of_relation_or_exchanged_roles_say_another_thing():
    assert not called_the_same(APART)


def test_what_says_the_same_in_the_same_relation_is_still_found():
    assert len(called_the_same(ALIKE)) >= 10


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The committee meets on Tuesday at noon", "The committee meets at noon on Tuesday"),
        ("我跟房东签了两年合同", "我和房东签了两年合同"),
    ],
)
def test_words_of_relation_that_say_the_same_in_any_order_tell_nothing_apart(a, b):
    assert called_the_same([(a, b)])


@pytest.mark.parametrize(
    ("a", "b", "turned"),
    [
        ("Ottmar taught me chess in the park.", "I taught Ottmar chess in the park.", True),
        ("We helped cousin Femke paint fences.", "Cousin Femke helped us paint fences.", True),
        ("我带老郑去体检", "老郑带我去体检", True),
        ("Ottmar taught me chess in the park.", "I was taught chess in the park by Ottmar.", False),
        ("Ottmar and I play chess.", "I and Ottmar play chess.", False),
        (
            "My uncle Ottmar plays chess in the park.",
            "Uncle Ottmar plays chess in the park.",
            False,
        ),
    ],
)
def test_who_did_it_to_the_writer_is_told_from_whom_the_writer_did_it_to(a, b, turned):
    assert (features([{"a": a, "b": b}])["swapped"][0] > 0) == turned
    assert not (turned and called_the_same([(a, b)]))
